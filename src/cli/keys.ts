import { foreignTopics } from '../access/auth/foreign-topics.ts'
import { permissions, scopes } from '../access/auth/scopes.ts'
import { type Administration, administer, serviceOptions } from './administration.ts'
import { type Command, type Operand, type Option, type Outcome, UsageError } from './command.ts'
import { expiryOf, overlapSeconds } from './durations.ts'
import { record, table } from './table.ts'
import { allUsers, findUser } from './users.ts'

interface KeyRecord {
  readonly apiKey: string
  readonly name: string
  readonly permission: string
  readonly scopes: readonly string[]
  readonly userId: string
  readonly expiresAt: string | null
  readonly previousSecretUntil: string | null
  readonly lastUsedAt: string | null
}

interface KeyWithSecret extends KeyRecord {
  readonly apiSecret: string
}

const keyOperand: Operand = { name: 'KEY', summary: 'The id of the key, such as sv_live_...' }

const overlap: Option = {
  name: 'overlap',
  value: 'DURATION',
  summary: 'How long the one before stays valid, such as 1h; 0 ends it at once.',
}

const createOptions: readonly Option[] = [
  {
    name: 'user',
    value: 'USER',
    isRequired: true,
    summary: 'The name or the id of the user that the key is for.',
  },
  { name: 'name', value: 'TEXT', summary: 'The name of the key. Default: cli.' },
  { name: 'kind', value: 'KIND', choices: ['test', 'live'], summary: 'Default: live.' },
  {
    name: 'permission',
    value: 'LEVEL',
    choices: permissions,
    summary: 'Default: read_write, or custom when there are scopes.',
  },
  {
    name: 'scopes',
    value: 'LIST',
    summary: `For custom, separated by commas, of: ${scopes.join(', ')}.`,
  },
  {
    name: 'expires',
    value: 'TIME',
    summary: 'An instant (RFC 3339) or a duration such as 90d. Default: never.',
  },
  {
    name: 'foreign-topics',
    value: 'WHAT',
    choices: foreignTopics,
    summary:
      'What is done with MQTT messages to a topic without a stream: ignore drops them. Default: refuse.',
  },
]

const create: Command = {
  name: 'keys create',
  summary: 'Make a key for a user, and print its secret this once.',
  operands: [],
  options: [...createOptions, ...serviceOptions],
  async run(input) {
    const { options } = input
    const listed = scopesIn(options['scopes'])
    const wanted = {
      name: options['name'] ?? 'cli',
      kind: options['kind'] ?? 'live',
      permission: options['permission'] ?? (listed ? 'custom' : 'read_write'),
      ...(listed && { scopes: listed }),
      ...(options['expires'] !== undefined && { expiresAt: expiryOf(options['expires']) }),
      ...(options['foreign-topics'] !== undefined && { foreignTopics: options['foreign-topics'] }),
    }
    if ((wanted.permission === 'custom') !== (listed !== undefined)) {
      throw new UsageError('--scopes goes with --permission custom, and only with it')
    }
    return await administer('keys create', input, async (administration) => {
      const { id: userId } = await findUser(administration, options['user'] ?? '')
      const body = { ...wanted, userId }
      const key = await administration.call<KeyWithSecret>({ method: 'POST', path: '/keys', body })
      return withSecret(key)
    })
  },
}

const list: Command = {
  name: 'keys list',
  summary: 'List the keys of a user, or of all users.',
  operands: [],
  options: [
    { name: 'user', value: 'USER', summary: 'Only the keys of this user (name or id).' },
    ...serviceOptions,
  ],
  async run(input) {
    const user = input.options['user']
    return await administer('keys list', input, async (administration) => {
      const users =
        user === undefined ? await allUsers(administration) : [await findUser(administration, user)]
      const keys: KeyRecord[] = []
      const rows: string[][] = []
      for (const { id, username } of users) {
        const found = await keysOf(administration, id)
        keys.push(...found)
        rows.push(...found.map((key) => rowOf(key, username)))
      }
      const headings = ['KEY', 'USER', 'NAME', 'PERMISSION', 'EXPIRES', 'LAST USED']
      return { json: keys, text: table(headings, rows) }
    })
  },
}

const rotate: Command = {
  name: 'keys rotate',
  summary: 'Give a key a new secret, and print it this once.',
  operands: [keyOperand],
  options: [{ ...overlap, summary: `${overlap.summary} Default: 1d.` }, ...serviceOptions],
  async run(input) {
    const body = overlapBody(input.options['overlap'])
    const path = `/keys/${encodeURIComponent(input.operands['KEY'] ?? '')}/rotate`
    return await administer('keys rotate', input, async (administration) => {
      const key = await administration.call<KeyWithSecret>({ method: 'POST', path, body })
      return withSecret(key)
    })
  },
}

const revoke: Command = {
  name: 'keys revoke',
  summary: 'Revoke a key: its tokens and sessions end at once.',
  operands: [keyOperand],
  options: serviceOptions,
  async run(input) {
    const id = input.operands['KEY'] ?? ''
    return await administer('keys revoke', input, async (administration) => {
      await administration.call({ method: 'DELETE', path: `/keys/${encodeURIComponent(id)}` })
      return { json: { apiKey: id, revoked: true }, text: `revoked ${id}` }
    })
  },
}

const rotateSigningKey: Command = {
  name: 'keys rotate-signing-key',
  summary: 'Sign access tokens with a new key from now on.',
  operands: [],
  options: [
    { ...overlap, summary: `${overlap.summary} Default: 2h. With 0 all tokens end.` },
    ...serviceOptions,
  ],
  async run(input) {
    const body = overlapBody(input.options['overlap'])
    const path = '/auth/signing-keys/rotate'
    return await administer('keys rotate-signing-key', input, async (administration) => {
      const { kid } = await administration.call<{ kid: string }>({ method: 'POST', path, body })
      return { json: { kid }, text: `tokens are signed by ${kid} now` }
    })
  },
}

const rotateContentKey: Command = {
  name: 'keys rotate-content-key',
  summary: 'Sign content with a new key from now on; earlier signatures stay valid.',
  operands: [],
  options: serviceOptions,
  async run(input) {
    const path = '/content-keys/rotate'
    return await administer('keys rotate-content-key', input, async (administration) => {
      const { kid } = await administration.call<{ kid: string }>({ method: 'POST', path })
      return { json: { kid }, text: `content is signed by ${kid} now` }
    })
  },
}

export const keyCommands: readonly Command[] = [
  create,
  list,
  rotate,
  revoke,
  rotateSigningKey,
  rotateContentKey,
]

function scopesIn(text: string | undefined): readonly string[] | undefined {
  const listed = text?.split(',').map((scope) => scope.trim())
  const unknown = listed?.find((scope) => !scopes.some((known) => known === scope))
  if (unknown === undefined) return listed
  throw new UsageError(`--scopes has no scope '${unknown}'; there are ${scopes.join(', ')}`)
}

function overlapBody(text: string | undefined): object {
  const seconds = overlapSeconds(text)
  return seconds === undefined ? {} : { overlapSeconds: seconds }
}

/** All keys of a user: no user can have more than one page holds. */
async function keysOf(administration: Administration, userId: string): Promise<KeyRecord[]> {
  return await administration.call({ method: 'GET', path: `/keys?limit=1000&userId=${userId}` })
}

function rowOf(key: KeyRecord, username: string): string[] {
  const { apiKey, name, permission, expiresAt, lastUsedAt } = key
  return [apiKey, username, name, permission, expiresAt ?? 'never', lastUsedAt ?? 'never']
}

function withSecret(key: KeyWithSecret): Outcome {
  const { apiKey, apiSecret, name, userId, previousSecretUntil } = key
  return {
    json: key,
    text: record({
      key: apiKey,
      secret: apiSecret,
      name,
      user: userId,
      scopes: key.scopes.join(' '),
      expires: key.expiresAt ?? 'never',
      ...(previousSecretUntil !== null && {
        'secret before': `valid until ${previousSecretUntil}`,
      }),
    }),
    notice: 'The secret is not shown again: keep it now.',
  }
}
