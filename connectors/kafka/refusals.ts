import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import type { Library } from './library.ts'

/** Errors of the protocol that somebody has to mend, and what they mean to whom they concern. */
const meanings: Readonly<Record<string, string>> = {
  UNKNOWN_TOPIC_OR_PARTITION: 'there is no such topic, or the user may not see it',
  INVALID_TOPIC_EXCEPTION: 'the broker does not take this for the name of a topic',
  TOPIC_AUTHORIZATION_FAILED: 'the user may not read the topic (it needs READ and DESCRIBE)',
  GROUP_AUTHORIZATION_FAILED: 'the user may not use the group (it needs READ)',
  CLUSTER_AUTHORIZATION_FAILED: 'the user may not use the cluster',
  INVALID_GROUP_ID: 'the broker does not take this for the name of a group',
  INCONSISTENT_GROUP_PROTOCOL:
    'the group has members that share partitions in another way (it has to be range)',
  GROUP_MAX_SIZE_REACHED: 'the group has as many members as the broker allows',
  FENCED_INSTANCE_ID: 'the same stream is read by another service: only one of them may run',
  UNSUPPORTED_COMPRESSION_TYPE: 'the topic is compressed in a way that is not known here',
}

/** Something was there before and is elsewhere now: a new connection finds out where. */
export class SourceGone extends Error {
  override readonly name = 'SourceGone'
}

/** The errors of the protocol in what the library throws. */
export function errorIdsOf(error: unknown): readonly string[] {
  const { apiId, errors, cause } = error as {
    readonly apiId?: unknown
    readonly errors?: unknown
    readonly cause?: unknown
  }
  const own = typeof apiId === 'string' ? [apiId] : []
  const inner = Array.isArray(errors) ? errors.flatMap(errorIdsOf) : []
  return [...own, ...inner, ...(cause instanceof Error ? errorIdsOf(cause) : [])]
}

/** An error as somebody who is to mend it has to read it: a SourceRefused, where a repetition is of no use. */
export function describeFailure(library: Library, error: unknown): Error {
  const given = error as Error
  if (given instanceof SourceRefused) return given
  const ids = errorIdsOf(given)
  const known = ids.find((id) => Object.hasOwn(meanings, id))
  if (known !== undefined)
    return new SourceRefused(`${meanings[known]} (${known})`, { cause: given })
  if (given instanceof library.UnsupportedCompressionError) {
    return new SourceRefused(given.message, { cause: given })
  }
  if (ids.length > 0) return new Error(`the broker says ${ids.join(', ')}`, { cause: given })
  return given
}
