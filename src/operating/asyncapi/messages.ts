import type { TSchema } from 'typebox'
import { readingsBody } from '../../../connectors/http/http-push-api.ts'
import { formatOfMediaType } from '../../../processors/decode.ts'
import { dataPoint } from '../../reading/queries/data-api.ts'
import { component, dateTime, record, text, uuid } from '../../requests/http/schema.ts'
import { dataSchemaOf } from '../../telling/catalogue/event-data-schemas.ts'

/** Something that is sent, as AsyncAPI describes it. */
export interface Message {
  readonly title: string
  readonly contentType: string
  readonly description?: string
  readonly payload?: TSchema
}

export type Messages = Readonly<Record<string, Message>>

/** Readings in each of the formats that have a content type: the bodies that HTTP takes, too. */
export const readingsMessages: Messages = Object.fromEntries(
  Object.entries(readingsBody['content'] as Readonly<Record<string, { schema: TSchema }>>)
    .filter(([mediaType]) => isFirstOfItsFormat(mediaType))
    .map(([contentType, { schema }]) => [
      `readings-${formatOfMediaType[contentType]}`,
      { title: `Readings as ${contentType}`, contentType, payload: schema },
    ]),
)

/** What is told of the alerts of a stream. */
export const alertMessages: Messages = {
  alert: {
    title: 'An alert that began, or has ended',
    contentType: 'application/json',
    payload: component(
      'AlertMessage',
      record({
        eventType: { ...text, enum: ['stream.alert_triggered', 'stream.alert_cleared'] },
        eventId: uuid,
        timestamp: dateTime,
        data: dataSchemaOf('stream.alert_triggered'),
      }),
    ),
  },
}

/** What belongs to the user is looked into by nobody. */
export const ownMessages: Messages = {
  anything: {
    title: 'Anything',
    contentType: 'application/octet-stream',
    description: 'Any bytes, also none: an empty retained message takes away the one that is kept.',
  },
}

const position = {
  ...text,
  description: 'Where to go on after it, in `from`.',
  examples: ['MSAxMjMy'],
}

const tailMessage = (type: string, data: TSchema) =>
  component(
    `Tail${type[0]?.toUpperCase()}${type.slice(1)}`,
    record({ type: { const: type }, position, data }),
  )

export const tailMessages: Messages = {
  position: {
    title: 'How far one has followed',
    contentType: 'application/json',
    description: 'The first message, and one every 15 s while nothing arrives.',
    payload: component('TailPosition', record({ type: { const: 'position' }, position })),
  },
  reading: {
    title: 'An accepted reading',
    contentType: 'application/json',
    payload: tailMessage('reading', dataPoint),
  },
  quarantined: {
    title: 'A refused reading',
    contentType: 'application/json',
    description: 'With `include=quarantined`.',
    payload: tailMessage('quarantined', {
      type: 'object',
      description: 'As in `GET /streams/{streamId}/quarantine`, without `id`.',
      required: ['reason'],
      properties: { reason: { ...text, examples: ['schema_mismatch'] } },
      additionalProperties: true,
    }),
  },
  end: {
    title: 'Why the service ends it',
    contentType: 'application/json',
    description: 'The last message, if the service and not the client ends the connection.',
    payload: component(
      'TailEnd',
      record({
        type: { const: 'end' },
        error: { ...text, description: 'A code of the catalogue of errors, or `stopping`.' },
        message: text,
        remedy: { ...text, description: 'What to do about it, for people.' },
      }),
    ),
  },
}

/** Some formats have several names; the first one is the one to use. */
function isFirstOfItsFormat(mediaType: string): boolean {
  const format = formatOfMediaType[mediaType]
  const [first] = Object.entries(formatOfMediaType).find(([, other]) => other === format) ?? []
  return first === mediaType
}
