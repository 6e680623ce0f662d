import * as s from '../../requests/http/schema.ts'

const credential = { ...s.text, minLength: 1, maxLength: 512 }
const scope = { ...s.text, description: 'Permissions, separated by spaces.' }

export const loginSchema = s.record({ apiKey: credential, apiSecret: credential })

export const issuedTokenSchema = s.record({
  accessToken: { ...s.text, description: 'A JWT.' },
  tokenType: s.typed<'Bearer'>({ const: 'Bearer' }),
  expiresIn: { ...s.count, description: 'Seconds.', examples: [3600] },
  scope,
})

export const validTokenSchema = s.record({
  valid: s.typed<true>({ const: true }),
  expiresAt: s.dateTime,
  scope,
  apiKeyId: s.text,
  userId: s.uuid,
})

const publicKeySchema = s.component(
  'PublicKey',
  s.record({
    kty: s.typed<'EC'>({ const: 'EC' }),
    crv: s.typed<'P-256'>({ const: 'P-256' }),
    x: s.text,
    y: s.text,
    kid: s.text,
    use: s.typed<'sig'>({ const: 'sig' }),
    alg: s.typed<'ES256'>({ const: 'ES256' }),
  }),
)

export const publicKeysSchema = s.record({ keys: s.listOf(publicKeySchema) })

/** A day: what leaked should not be believed for longer because of a slip of the pen. */
const overlapSMax = 86_400

export const signingRotationSchema = s.nullable(
  s.partial({ overlapSeconds: s.integer(0, overlapSMax, { default: 7_200 }) }),
)

export const signingKeySchema = s.record({ kid: s.text })
