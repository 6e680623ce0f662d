import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { OPCUAClientOptions } from 'node-opcua-client'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { wallDate } from '../../src/core/clock.ts'
import type { OpcUaOptions } from './options.ts'

type Library = typeof import('node-opcua-client')
export type KeyPair = NonNullable<OPCUAClientOptions['certificateKeyPairProvider']>

/** What we are called where no certificate says it. */
const applicationUriDefault = 'urn:streamvault:client'

/** Days of a certificate that nobody gets to rely on. */
const validityDays = 365

/** The URI of an application among the names of its certificate: OPC 10000-6, section 6.2.2. */
export function applicationUriOf({ certificate }: OpcUaOptions): string {
  if (certificate === undefined) return applicationUriDefault
  const names = new X509Certificate(certificate).subjectAltName ?? ''
  return /(?:^|, )URI:([^,]+)/.exec(names)?.[1] ?? applicationUriDefault
}

/** What the library signs with. Without security nobody looks at it, but there has to be one. */
export async function keyPairOf(library: Library, options: OpcUaOptions): Promise<KeyPair> {
  const { certificate, privateKey } = options
  const pair =
    certificate === undefined || privateKey === undefined
      ? await ownKeyPair(library)
      : { certificate, privateKey }
  const { crypto_utils: crypto } = library
  const der = new X509Certificate(pair.certificate).raw
  const pem = createPrivateKey(pair.privateKey).export({ type: 'pkcs8', format: 'pem' })
  const key = crypto.makePrivateKeyFromPem(pem as string)
  const provider = {
    certificateFile: '<in-memory>',
    privateKeyFile: '<in-memory>',
    getCertificate: () => der,
    getCertificateChain: () => [der],
    getPrivateKey: () => key,
  }
  return provider
}

async function ownKeyPair({ crypto_utils: crypto }: Library) {
  const key = await crypto.generatePrivateKey(2_048)
  const { cert } = await crypto.createSelfSignedCertificate({
    privateKey: key,
    subject: 'CN=Streamvault',
    applicationUri: applicationUriDefault,
    dns: [],
    notBefore: wallDate(),
    validity: validityDays,
    purpose: crypto.CertificatePurpose.ForApplication,
  })
  const { privPem } = await crypto.privateKeyToPEM(key)
  return { certificate: cert, privateKey: privPem }
}

/**
 * Holds the certificate that a server shows to the one that the owner of the stream trusts: that very one, or the
 * authority that has issued it.
 *
 * @param shown DER, with its chain perhaps
 * @returns the certificate of the server alone
 * @throws SourceRefused with the fingerprint, so that somebody can compare it and trust it
 */
export function trustedCertificate(shown: Buffer, pinned: string | undefined): Buffer {
  const certificate = readCertificate(shown)
  if (pinned !== undefined && isTrusted(certificate, pinned)) return certificate.raw
  const { fingerprint256 } = certificate
  const problem =
    pinned === undefined ? 'the source does not say which one to trust' : 'it is another one'
  throw new SourceRefused(
    `the certificate of the server is not trusted (${problem}): its SHA-256 is ${fingerprint256}. Compare it with that of your server, and put it into serverCertificate`,
  )
}

function readCertificate(shown: Buffer): X509Certificate {
  try {
    return new X509Certificate(shown)
  } catch (error) {
    throw new Error('the server shows a certificate that cannot be read', { cause: error })
  }
}

function isTrusted(certificate: X509Certificate, pinned: string): boolean {
  if (!pinned.includes('-----BEGIN')) {
    return hexadecimal(pinned) === hexadecimal(certificate.fingerprint256)
  }
  const known = new X509Certificate(pinned)
  if (known.raw.equals(certificate.raw)) return true
  const isIssued = known.ca && certificate.checkIssued(known) && certificate.verify(known.publicKey)
  const now = wallDate()
  return isIssued && certificate.validFromDate <= now && now <= certificate.validToDate
}

function hexadecimal(fingerprint: string): string {
  return fingerprint.replaceAll(/^sha-?256:|:/gi, '').toLowerCase()
}
