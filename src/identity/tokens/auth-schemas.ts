import {
  component,
  count,
  dateTime,
  keyHeaders,
  listOf,
  nullable,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'

const credential = { type: 'string', minLength: 1, maxLength: 512 } as const
const scope = { ...text, description: 'Permissions, separated by spaces.' } as const

export const issueToken = {
  operationId: 'issueToken',
  summary: 'Get an access token for a key and its secret.',
  tags: ['Authentication'],
  body: record({ apiKey: credential, apiSecret: credential }),
  response: {
    200: record({
      accessToken: { ...text, description: 'A JWT.' },
      tokenType: { const: 'Bearer' },
      expiresIn: { ...count, description: 'Seconds.', examples: [3600] },
      scope,
    }),
  },
} as const

export const validateToken = {
  operationId: 'validateToken',
  summary: 'Check the access token of this request, and read what it grants now.',
  tags: ['Authentication'],
  response: {
    200: record({
      valid: { const: true },
      expiresAt: dateTime,
      scope,
      apiKeyId: text,
      userId: uuid,
    }),
  },
} as const

const publicKey = component(
  'PublicKey',
  record({
    kty: { const: 'EC' },
    crv: { const: 'P-256' },
    x: text,
    y: text,
    kid: text,
    use: { const: 'sig' },
    alg: { const: 'ES256' },
  }),
)

export const publicKeys = {
  operationId: 'listPublicKeys',
  summary: 'Read the public keys that access tokens are checked with (RFC 7517).',
  tags: ['Authentication'],
  response: { 200: record({ keys: listOf(publicKey) }) },
} as const

/** A day: what leaked should not be believed for longer because of a slip of the pen. */
const overlapSMax = 86_400

export const rotateSigningKey = {
  operationId: 'rotateSigningKey',
  summary: 'Sign access tokens with a new key from now on.',
  description: 'Tokens of the key before stay good for the overlap; 0 ends them at once.',
  tags: ['Authentication'],
  headers: keyHeaders,
  body: nullable(
    record(
      {
        overlapSeconds: { type: 'integer', minimum: 0, maximum: overlapSMax, default: 7_200 },
      },
      { optional: ['overlapSeconds'] },
    ),
  ),
  response: { 200: record({ kid: text }) },
} as const
