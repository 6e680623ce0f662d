import type { ApiClient } from './api-client.ts'
import { createUser, newUsername, type Person } from './people.ts'

/** Lets a new user see something, then change it, and then see it no more. */
export async function sharedForAWhile(api: ApiClient, owner: Person, at: string): Promise<void> {
  const username = newUsername()
  await createUser(api, username)
  const path = `${at}/permissions`
  const { body } = await owner.withKey<{ id: string }>('POST', path, { username, role: 'READ' })
  await owner.withKey('PUT', `${path}/${body.id}`, { role: 'WRITE' })
  const { status } = await owner.withKey('DELETE', `${path}/${body.id}`)
  if (status !== 204) throw new Error(`a permission was not revoked: ${status}`)
}
