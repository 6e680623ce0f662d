import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { textOf } from './entries.ts'
import { compareIds, firstId } from './entry-ids.ts'
import { type RedisConnection, RedisError } from './redis-connection.ts'
import type { Reply } from './replies.ts'

/** The id of the newest entry that a stream has ever had; undefined where there is no such stream. */
export async function newestIdOf(
  connection: RedisConnection,
  key: string,
): Promise<string | undefined> {
  try {
    const facts = membersOf(await connection.ask(['XINFO', 'STREAM', key]))
    return facts.get('last-generated-id') ?? ''
  } catch (error) {
    if (error instanceof RedisError && /no such key/i.test(error.message)) return undefined
    throw error
  }
}

/**
 * Entries with ids below those that were read already would be passed over for ever, and nobody would know. Where no
 * entry ever was, none is passed over.
 *
 * @throws SourceRefused
 */
export function assertNotBehind(newest: string | undefined, read: string): void {
  if (newest === undefined || newest === firstId || compareIds(newest, read) >= 0) return
  throw new SourceRefused(
    `the stream ends at entry ${newest}, and was read up to ${read}: it was made again, or set back to an older state. Entries below ${read} are not read: where they are wanted, set another startFrom or group`,
  )
}

/** @throws RedisError where there is no such stream */
export async function groupsOf(
  connection: RedisConnection,
  key: string,
): Promise<ReadonlySet<string>> {
  const groups = await connection.ask(['XINFO', 'GROUPS', key])
  return new Set(listOf(groups).map((group) => membersOf(group).get('name') ?? ''))
}

/** How many entries each consumer of a group has not acknowledged. */
export async function pendingOf(
  connection: RedisConnection,
  { key, group }: { readonly key: string; readonly group: string },
): Promise<ReadonlyMap<string, number>> {
  const consumers = listOf(await connection.ask(['XINFO', 'CONSUMERS', key, group]))
  const facts = consumers.map((consumer) => membersOf(consumer))
  return new Map(facts.map((one) => [one.get('name') ?? '', Number(one.get('pending'))]))
}

function listOf(reply: Reply): readonly Reply[] {
  return Array.isArray(reply) ? (reply as readonly Reply[]) : []
}

/** Names and values by turns. */
function membersOf(reply: Reply): ReadonlyMap<string, string> {
  const parts = listOf(reply)
  const members = new Map<string, string>()
  for (let at = 0; at + 1 < parts.length; at += 2) {
    members.set(textOf(parts[at]), textOf(parts[at + 1]))
  }
  return members
}
