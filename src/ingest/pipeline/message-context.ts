import type { RawMessage } from '../../contracts/connector.ts'
import type { MessageContext } from '../../contracts/mapping.ts'
import type { ContextRoot } from '../../contracts/path.ts'
import { cutText } from '../../core/cut-text.ts'

/** Characters of a topic that are kept with each reading that is refused. */
const shownTopicLength = 200

/** What a person sees of where a refused message came from. */
export function sourceTextOf({ source, topic, showsTopic }: RawMessage): string {
  if (topic === undefined || showsTopic !== true) return source
  return `${source}, topic '${cutText(topic, shownTopicLength)}'`
}

/** What is known of a message beside its bytes, to be kept with what is refused of it; undefined for nothing. */
export function contextOf(message: RawMessage): MessageContext | undefined {
  const { topic, separator, headers, query, key, sentAtUs, eventType } = message
  const context = {
    ...(topic !== undefined && { topic }),
    ...(separator !== undefined && { separator }),
    ...(headers !== undefined && { headers }),
    ...(query !== undefined && { query }),
    ...(key !== undefined && { key }),
    ...(sentAtUs !== undefined && { sentAtUs }),
    ...(eventType !== undefined && { eventType }),
  }
  return Object.keys(context).length === 0 ? undefined : context
}

/** Characters of JSON that all that is refused of one message is kept with. */
const keptLengthMax = 32 * 1024 * 1024

/**
 * What is kept with each of several readings that were refused of a message: all of it, or where that is too much what
 * the stream reads.
 */
export function sharedContextOf(message: RawMessage, refused: number): MessageContext | undefined {
  const context = contextOf(message)
  if (context === undefined || refused * lengthOf(context) <= keptLengthMax) return context
  const { topic, separator, headers, query, key, sentAtUs, eventType, ...rest } = message
  const { reads } = message.stream
  const ifRead = <T extends object>(root: ContextRoot, part: T) => reads?.has(root) === true && part
  return contextOf({
    ...rest,
    ...(topic !== undefined && ifRead('topic', { topic, ...(separator && { separator }) })),
    ...(headers !== undefined && ifRead('header', { headers })),
    ...(query !== undefined && ifRead('query', { query })),
    ...(key !== undefined && ifRead('key', { key })),
    ...(sentAtUs !== undefined && ifRead('time', { sentAtUs })),
    ...(eventType !== undefined && ifRead('event', { eventType })),
  })
}

function lengthOf(context: MessageContext): number {
  return JSON.stringify(context).length
}
