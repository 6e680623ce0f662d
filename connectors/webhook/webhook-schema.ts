import { count, record, text } from '../../src/requests/http/schema.ts'
import { readingsBody } from '../http/http-push-api.ts'

const hookParams = record({
  hookId: { ...text, description: 'The last part of the address of the stream.' },
})

/** The question of a sender of CloudEvents. */
export const allowWebhook = {
  operationId: 'allowWebhook',
  summary: 'Allow a sender of CloudEvents to send.',
  description: [
    'The handshake of the CloudEvents webhook specification: a sender with the header `WebHook-Request-Origin` gets',
    'its name back in `WebHook-Allowed-Origin`, and `*` in `WebHook-Allowed-Rate`. Only a stream whose format is',
    '`cloudevents` answers. Needs no credentials, and shows nothing of the stream.',
  ].join(' '),
  tags: ['Readings'],
  params: hookParams,
  response: { 200: { type: 'null', description: 'The sender may send.' } },
} as const

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
  params: hookParams,
  body: readingsBody,
  response: {
    200: {
      ...record(
        { challenge: text, validationResponse: text },
        { optional: ['challenge', 'validationResponse'] },
      ),
      description: 'To Slack and Azure Event Grid, which ask whether the address is for them.',
    },
    202: record({
      status: { enum: ['accepted', 'repeated'] },
      readings: { ...count, description: 'That were taken; 0 where it was known.' },
      refused: { ...count, description: 'That are in the quarantine.' },
    }),
  },
} as const
