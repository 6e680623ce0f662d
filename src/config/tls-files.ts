import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'

/** Where certificate and key are: PEM files. */
export interface TlsFiles {
  readonly certPath: string
  readonly keyPath: string
}

/** A certificate with its chain, and its key. */
export interface Certificate {
  readonly cert: Buffer
  readonly key: Buffer
}

/** @throws Error when a file cannot be read, or the two do not belong together */
export function readCertificate({ certPath, keyPath }: TlsFiles): Certificate {
  const certificate = { cert: readFileSync(certPath), key: readFileSync(keyPath) }
  createSecureContext(certificate)
  return certificate
}
