import { count, record, text } from '../../src/requests/http/schema.ts'
import { readingsBody } from '../http/http-push-api.ts'

/** A message of a webhook. */
export const receiveWebhook = {
  operationId: 'receiveWebhook',
  summary: 'Take a message of a webhook.',
  description: [
    'Needs no credentials: the message is signed, in the way that the source of the stream says. The signature is that',
    'of the very bytes of the body, after its `Content-Encoding` was undone. 202 means that it is on disk. What does not fit the',
    'schema is kept in the quarantine, and answered 202 as well: its sender could not correct it. A message that was',
    'kept before is answered `repeated`.',
  ].join(' '),
  tags: ['Readings'],
  params: record({
    hookId: { ...text, description: 'The last part of the address of the stream.' },
  }),
  body: readingsBody,
  response: {
    200: {
      ...record({ challenge: text }),
      description: 'To Slack, which asks whether the address is for it.',
    },
    202: record({
      status: { enum: ['accepted', 'repeated'] },
      readings: { ...count, description: 'That were taken; 0 where it was known.' },
      refused: { ...count, description: 'That are in the quarantine.' },
    }),
  },
} as const
