import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'

/** Where certificate and key are: PEM files. */
export interface TlsFiles {
  readonly certPath: string
  readonly keyPath: string
  /** Authorities whose certificates clients of MQTT may show; undefined: none is asked for. */
  readonly clientCaPath?: string
}

/** A certificate with its chain, and its key. */
export interface Certificate {
  readonly cert: Buffer
  readonly key: Buffer
  readonly clientCa?: Buffer
}

/** @throws Error when a file cannot be read, or the two do not belong together */
export function readCertificate({ certPath, keyPath, clientCaPath }: TlsFiles): Certificate {
  const certificate = { cert: readFileSync(certPath), key: readFileSync(keyPath) }
  createSecureContext(certificate)
  if (clientCaPath === undefined) return certificate
  return { ...certificate, clientCa: readAuthorities(clientCaPath) }
}

/** OpenSSL passes over what it cannot read among authorities: then nobody could connect. */
function readAuthorities(path: string): Buffer {
  const bytes = readFileSync(path)
  const blocks = bytes
    .toString()
    .match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)
  if (blocks === null) throw new Error(`there is no certificate in ${path}`)
  for (const block of blocks) {
    if (!new X509Certificate(block).ca)
      throw new Error(`${path} has one that is not an authority's`)
  }
  return bytes
}
