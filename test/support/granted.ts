import type { Role } from '../../src/twins/rights/right.ts'
import type { Person } from './people.ts'

/** Something that can be shared, as paths name it. */
export interface Shared {
  readonly kind: 'vaults' | 'streams'
  readonly id: string
}

const usernames = new Map<string, string>()

/** The name that a permission is granted to. */
async function usernameOf({ userId, withKey }: Person): Promise<string> {
  const known = usernames.get(userId)
  if (known !== undefined) return known
  const { body } = await withKey<{ username: string }>('GET', `/users/${userId}`)
  usernames.set(userId, body.username)
  return body.username
}

/** Lets somebody else read or change something; returns the path of the permission. */
export async function share(
  owner: Person,
  holder: Person,
  { kind, id }: Shared,
  role: Role,
): Promise<string> {
  const path = `/${kind}/${id}/permissions`
  const body = { username: await usernameOf(holder), role }
  const answer = await owner.withKey<{ id: string }>('POST', path, body)
  if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  return `${path}/${answer.body.id}`
}

/** Ends a permission. */
export async function revoke(owner: Person, path: string): Promise<void> {
  const { status } = await owner.withKey('DELETE', path)
  if (status !== 204) throw new Error(`a permission was not revoked: ${status}`)
}
