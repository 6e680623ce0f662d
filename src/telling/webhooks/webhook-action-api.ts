import { askedTimeOrNumber } from '../../requests/http/asked-range.ts'
import * as s from '../../requests/http/schema.ts'

export const plannedDeliverySchema = s.component(
  'PlannedDelivery',
  s.record({ delivery_id: s.uuid, event_id: s.uuid, event_type: s.text }),
)

export const webhookTestSchema = s.component(
  'WebhookTest',
  s.partial(
    {
      event_type: {
        ...s.text,
        description: 'One that it is subscribed to; the first of them unless this is given.',
      },
    },
    { examples: [{}] },
  ),
)

export const recoverySchema = s.component(
  'Recovery',
  s.record({ since: askedTimeOrNumber('The first moment of what was missed.') }),
)

export const recoveredSchema = s.record({
  recovered: s.count,
  next_since: s.nullable(s.dateTime),
})

/** Seconds that the secret before a rotation stays in use, unless somebody says otherwise. */
export const overlapSDefault = 86_400

const overlapSMax = 30 * 86_400

export const secretRotationSchema = s.component(
  'SecretRotation',
  s.partial(
    {
      secret: { ...s.text, minLength: 1, maxLength: 256 },
      overlap_seconds: s.integer(0, overlapSMax, { default: overlapSDefault }),
    },
    { examples: [{ overlap_seconds: 3_600 }] },
  ),
)

export const rotatedSchema = s.record({
  id: s.uuid,
  secret: s.text,
  previous_until: s.nullable(s.dateTime),
})

export const destinationQuestionSchema = s.component(
  'DestinationQuestion',
  s.record({
    url: {
      ...s.text,
      minLength: 1,
      maxLength: 2_048,
      examples: ['https://receiver.example.com/hook'],
    },
  }),
)

export const destinationSchema = s.record({
  allowed: s.boolean,
  reason: s.nullable(s.text),
  remedy: { ...s.nullable(s.text), description: 'What to do about the reason, for people.' },
  addresses: s.listOf(s.text, {
    description: 'Private ones that a name resolves to are left out.',
  }),
})

export const explanationQuery = s.record({
  eventId: { ...s.uuid, examples: ['0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60'] },
})

export const explanationSchema = s.record({
  event_id: s.text,
  outcome: {
    ...s.text,
    enum: ['delivered', 'pending', 'failed', 'cancelled', 'not_sent', 'unknown_event'],
  },
  attempts: s.count,
  checks: s.listOf(s.record({ check: s.text, passed: s.boolean, message: s.text })),
})
