import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isObject } from '../../src/contracts/definitions/field-map.ts'
import {
  type Field,
  newField,
  part,
  text,
  type ValueOf,
} from '../../src/contracts/definitions/fields.ts'
import type { Json, Problems } from '../../src/contracts/definitions/problems.ts'
import { secretMark } from '../../src/contracts/definitions/secret-mark.ts'

/** Characters of a certificate with its chain, of a key, and of the certificates to trust. */
const pemLengthMax = 20_000

const pemSchema = { type: 'string', maxLength: pemLengthMax }

/** One certificate or more, in PEM. */
export const certificates = newField<string>((value, key, problems) => {
  const isGood = isPem(value, (pem) => new X509Certificate(pem))
  if (!isGood) problems.add(key, 'must be certificates in PEM')
}, pemSchema)

const privateKey = newField<string>((value, key, problems) => {
  const isGood = isPem(value, (pem) => createPrivateKey(pem))
  if (!isGood) problems.add(key, 'must be a private key in PEM, without a pass phrase')
}, pemSchema)

/** What the library says about a bad key may tell of it: nobody gets to see that. */
function isPem(value: unknown, read: (pem: string) => unknown): boolean {
  if (value === secretMark) return true
  if (typeof value !== 'string' || value.length > pemLengthMax) return false
  try {
    read(value)
    return true
  } catch {
    return false
  }
}

/** Keys of a name and its password. */
export const login = {
  username: { ...text, doc: 'A user name.' },
  password: { ...text, isSecret: true, doc: 'The password of the user.' },
} as const

/** Keys of a certificate that the other side knows us by. */
export const keyPair = {
  certificate: { ...certificates, isSecret: true, doc: 'What we are known by, in PEM.' },
  privateKey: { ...privateKey, isSecret: true, doc: 'Its key, in PEM, without a pass phrase.' },
} as const

/** A user name with its password, a certificate with its key, or both. */
export const brokerCredentials = refinedCredentials(part({ ...login, ...keyPair }), (value) => {
  const { hasAll, has } = membersOf(value)
  const isWhole = hasAll('username', 'password') && hasAll('certificate', 'privateKey')
  if (isWhole && (has('username') || has('certificate'))) return undefined
  return 'must have username and password, or certificate and privateKey'
})

/** A certificate with its key, where nobody is asked for a password. */
export const clientCertificate = refinedCredentials(
  part({
    certificate: { ...keyPair.certificate, isRequired: true },
    privateKey: { ...keyPair.privateKey, isRequired: true },
  }),
  () => undefined,
)

/** Which members an object has. */
export function membersOf(value: Json) {
  const has = (name: string) => value[name] !== undefined
  /** Whether there are both, or none of them. */
  const hasAll = (one: string, other: string) => has(one) === has(other)
  return { has, hasAll }
}

/**
 * Credentials with a rule for what has to stand beside each other, and a certificate that belongs to its key.
 *
 * @param problemOf what is wrong with the members that there are, if anything is
 */
export function refinedCredentials<Value>(
  base: Field<Value>,
  problemOf: (value: Json) => string | undefined,
): Field<Value> {
  return {
    ...base,
    rule: (value, key, problems) => {
      base.rule(value, key, problems)
      if (!isObject(value)) return
      const problem = problemOf(value)
      if (problem !== undefined) problems.add(key, problem)
      else if (!fitsItsKey(value)) {
        problems.add(`${key}.privateKey`, 'does not belong to the certificate')
      }
    },
  }
}

/** One of them may be kept and the other new: then they are not the pair that they were. */
function fitsItsKey({ certificate, privateKey: pem }: Json): boolean {
  if (certificate === secretMark || pem === secretMark) return certificate === pem
  if (typeof certificate !== 'string' || typeof pem !== 'string') return true
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(pem))
  } catch {
    // What cannot be read is named already.
    return true
  }
}

/** Keys of TLS: who answers is always checked. */
export const tlsFields = {
  ca: { ...certificates, doc: 'Whom to trust instead of the usual authorities, in PEM.' },
  servername: { ...text, doc: 'Whom to expect, where that is not the host.' },
} as const

export const tls = part(tlsFields)

/** TLS with or without more said of it; the certificate of who answers is always checked. */
export const optionalTls = newField<boolean | ValueOf<typeof tls>>(
  (value, key, problems) => {
    if (typeof value !== 'boolean') tls.rule(value, key, problems)
  },
  { anyOf: [{ type: 'boolean' }, tls.schema] },
)

/** Refuses what only goes with TLS. @param needs what it takes: `needs an endpoint of amqps` */
export function refusePlain({ tls: given, credentials }: Json, needs: string, problems: Problems) {
  const isCertified = isObject(credentials) && credentials['certificate'] !== undefined
  if (isCertified) problems.add('credentials.certificate', needs)
  if (given !== undefined) problems.add('tls', needs)
}
