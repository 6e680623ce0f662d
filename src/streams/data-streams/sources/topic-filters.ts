import type { Json } from '../definition-problems.ts'

/**
 * Whether what a source names lets messages of more than one topic in, so that two devices may send the same. A filter
 * with a wildcard does, also where only one topic happens to match it.
 */
export function letsSeveralIn({ protocol, topic }: Json): boolean {
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
