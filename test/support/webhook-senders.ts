import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'

/** A signed message, as one of those who send webhooks makes it. */
export interface SentMessage {
  readonly body: string
  readonly secret: string
  readonly id: string
  /** Seconds since the Unix epoch. */
  readonly timestamp: number
}

type Headers = Readonly<Record<string, string>>

export interface Sender {
  /** The source of the stream that is sent to. */
  readonly signature: object
  readonly secret: string
  readonly headers: (message: SentMessage) => Headers
}

function mac(secret: string, content: string, encoding: 'hex' | 'base64' = 'hex'): string {
  return createHmac('sha256', secret).update(content).digest(encoding)
}

/** Written after what each sender publishes, and not after what checks it. */
export const senders = {
  'standard-webhooks': {
    signature: { scheme: 'standard-webhooks' },
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    headers: ({ body, secret, id, timestamp }) => ({
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': new Webhook(secret).sign(id, new Date(timestamp * 1_000), body),
    }),
  },
  github: {
    signature: { scheme: 'github' },
    secret: "It's a Secret to Everybody",
    headers: ({ body, secret, id }) => ({
      'x-github-delivery': id,
      'x-github-event': 'push',
      'x-hub-signature-256': `sha256=${mac(secret, body)}`,
    }),
  },
  stripe: {
    signature: { scheme: 'stripe' },
    secret: 'whsec_of_stripe_is_no_base64',
    headers: ({ body, secret, timestamp }) => ({
      'stripe-signature': `t=${timestamp},v1=${mac(secret, `${timestamp}.${body}`)},v0=old`,
    }),
  },
  slack: {
    signature: { scheme: 'slack' },
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    headers: ({ body, secret, timestamp }) => ({
      'x-slack-request-timestamp': String(timestamp),
      'x-slack-signature': `v0=${mac(secret, `v0:${timestamp}:${body}`)}`,
    }),
  },
  shopify: {
    signature: { scheme: 'shopify' },
    secret: 'the secret of an app',
    headers: ({ body, secret, id }) => ({
      'x-shopify-webhook-id': id,
      'x-shopify-topic': 'orders/create',
      'x-shopify-hmac-sha256': mac(secret, body, 'base64'),
    }),
  },
  hmac: {
    signature: {
      scheme: 'hmac',
      header: 'X-Plant-Signature',
      prefix: 'sha256=',
      timestampHeader: 'X-Plant-Time',
    },
    secret: 'the secret of a plant',
    headers: ({ body, secret, timestamp }) => ({
      'x-plant-time': String(timestamp),
      'x-plant-signature': `sha256=${mac(secret, `${timestamp}.${body}`)}`,
    }),
  },
  token: {
    signature: { scheme: 'token', header: 'X-Gitlab-Token' },
    secret: 'the token of a project',
    headers: ({ secret }) => ({ 'x-gitlab-token': secret }),
  },
} as const satisfies Readonly<Record<string, Sender>>
