import { type Administration, administer, serviceOptions } from './administration.ts'
import { type Command, CommandError, type Operand, type Outcome } from './command.ts'
import { record, table } from './table.ts'

export interface UserRecord {
  readonly id: string
  readonly username: string
  readonly first_name: string
  readonly last_name: string
  readonly created_at: string
}

interface UserPage {
  readonly content: readonly UserRecord[]
  readonly total_pages: number
}

const pageSize = 100

const userOperand: Operand = { name: 'USER', summary: 'The name or the id of the user.' }

const create: Command = {
  name: 'users create',
  summary: 'Create a user.',
  operands: [
    { name: 'NAME', summary: 'The username. No two differ by upper and lower case only.' },
  ],
  options: [
    { name: 'first-name', value: 'TEXT', summary: 'Given name; empty unless it is given.' },
    { name: 'last-name', value: 'TEXT', summary: 'Family name; empty unless it is given.' },
    ...serviceOptions,
  ],
  async run(input) {
    const { operands, options } = input
    const body = {
      username: operands['NAME'],
      first_name: options['first-name'] ?? '',
      last_name: options['last-name'] ?? '',
    }
    return await administer('users create', input, async (administration) => {
      const user = await administration.call<UserRecord>({ method: 'POST', path: '/users', body })
      return one(user)
    })
  },
}

const list: Command = {
  name: 'users list',
  summary: 'List all users.',
  operands: [],
  options: serviceOptions,
  async run(input) {
    return await administer('users list', input, async (administration) => {
      const users = await allUsers(administration)
      const rows = users.map((user) => [user.id, user.username, fullName(user), user.created_at])
      return { json: users, text: table(['ID', 'USERNAME', 'NAME', 'CREATED'], rows) }
    })
  },
}

const show: Command = {
  name: 'users show',
  summary: 'Show a user.',
  operands: [userOperand],
  options: serviceOptions,
  async run(input) {
    return await administer('users show', input, async (administration) =>
      one(await findUser(administration, input.operands['USER'] ?? '')),
    )
  },
}

const remove: Command = {
  name: 'users delete',
  summary: 'Delete a user: the keys end at once, and the profile is erased.',
  operands: [userOperand],
  options: serviceOptions,
  async run(input) {
    return await administer('users delete', input, async (administration) => {
      const { id, username } = await findUser(administration, input.operands['USER'] ?? '')
      await administration.call({ method: 'DELETE', path: `/users/${id}` })
      return { json: { id, deleted: true }, text: `deleted ${username} (${id})` }
    })
  },
}

export const userCommands: readonly Command[] = [create, list, show, remove]

const idPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * The user that was named: by id, which every key may ask for its own user, or by name.
 *
 * @throws CommandError `not_found`
 */
export async function findUser(
  administration: Administration,
  nameOrId: string,
): Promise<UserRecord> {
  if (idPattern.test(nameOrId)) {
    const path = `/users/${nameOrId}`
    return await administration.call({ method: 'GET', path })
  }
  const path = `/platform/users?username=${encodeURIComponent(nameOrId)}`
  const { content } = await administration.call<UserPage>({ method: 'GET', path })
  const [user] = content
  if (!user) {
    throw new CommandError('not_found', `no user ${nameOrId}`, {
      remedy: 'Correct the name; npx streamvault users list shows all users.',
    })
  }
  return user
}

export async function allUsers(administration: Administration): Promise<UserRecord[]> {
  const users: UserRecord[] = []
  for (let page = 1; ; page++) {
    const path = `/platform/users?page=${page}&page_size=${pageSize}`
    const found = await administration.call<UserPage>({ method: 'GET', path })
    users.push(...found.content)
    if (page >= found.total_pages) return users
  }
}

function fullName({ first_name: first, last_name: last }: UserRecord): string {
  return `${first} ${last}`.trim()
}

function one(user: UserRecord): Outcome {
  const { id, username, created_at: created } = user
  return { json: user, text: record({ id, username, name: fullName(user), created }) }
}
