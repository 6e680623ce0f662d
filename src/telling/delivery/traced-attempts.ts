import type { SpanAttributes, SpanEnd, SpanStart, Tracing } from '../../core/tracing.ts'
import type { MakeAttempt } from './attempt.ts'
import type { AttemptResult, DueDelivery } from './delivery.ts'

/** What every attempt says of its delivery: nothing of its receiver, and nothing of what is delivered. */
export function attributesOf({ id, eventId, eventType, attempts }: DueDelivery): SpanAttributes {
  return {
    'streamvault.delivery.id': id,
    'streamvault.delivery.attempt': attempts + 1,
    'streamvault.event.id': eventId,
    'streamvault.event.type': eventType,
  }
}

/** @param statusName name of the attribute that has the status of the answer */
export function endOf(
  { outcome, statusCode }: Pick<AttemptResult, 'outcome' | 'statusCode'>,
  statusName: string,
): SpanEnd {
  const attributes = { [statusName]: statusCode }
  if (outcome === 'delivered') return { attributes }
  return { attributes, failure: statusCode === undefined ? 'no_answer' : String(statusCode) }
}

/** Attempts to send mails, each with a span where something was sent. */
export function tracedMails(
  make: MakeAttempt,
  tracing: Tracing | undefined,
  server: { readonly host: string; readonly port: number } | undefined,
): MakeAttempt {
  if (tracing === undefined || server === undefined) return make
  const { host, port } = server
  const spanOf = (delivery: DueDelivery): SpanStart => ({
    name: 'send mail',
    kind: 'client',
    attributes: {
      ...attributesOf(delivery),
      'network.protocol.name': 'smtp',
      'server.address': host,
      'server.port': port,
    },
  })
  return async (delivery, ending) => {
    const span = tracing.start(spanOf(delivery))
    const made = await make(delivery, ending)
    if (made !== undefined) span.end(endOf(made.result, 'streamvault.smtp.reply_code'))
    return made
  }
}
