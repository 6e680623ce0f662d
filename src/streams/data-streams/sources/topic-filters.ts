import type { Json } from '../definition-problems.ts'

/**
 * Returns true when a source takes messages of more than one topic, so that two devices may send the same reading.
 * A filter with a wildcard counts as several topics, even if only one topic matches it.
 */
export function takesSeveralTopics({ protocol, topic }: Json): boolean {
  // Which keys a queue gets messages by is known to the server; the connector names those that are not its own.
  if (protocol === 'amqp') return true
  if (typeof topic !== 'string') return false
  if (protocol === undefined || protocol === 'mqtt') return hasWildcard(topic.split('/'), '+', '#')
  if (protocol === 'nats') return hasWildcard(topic.split('.'), '*', '>')
  return protocol === 'kafka' && new Set(topic.split(',')).size > 1
}

function hasWildcard(levels: readonly string[], ...wildcards: readonly string[]): boolean {
  return levels.some((level) => wildcards.includes(level))
}
