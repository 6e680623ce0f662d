import type { RawMessage } from '../../contracts/connector.ts'
import type { MessageContext } from '../../contracts/mapping.ts'

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
