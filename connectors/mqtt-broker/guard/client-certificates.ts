import type { Duplex } from 'node:stream'
import { type DetailedPeerCertificate, TLSSocket } from 'node:tls'

/** A client's certificate, which one of our authorities has signed. */
export interface MqttClientCertificate {
  readonly commonName: string
  readonly expiresAtUs: number
}

/**
 * Whether a connection may go on: one with a certificate that does not hold may not, and one without
 * any may, where none is asked for in earnest.
 */
export function holdsOrHasNone(socket: TLSSocket): boolean {
  return socket.authorized || Object.keys(socket.getPeerCertificate()).length === 0
}

/** The certificate that a client has proved to be its own, or nothing. */
export function clientCertificateOf(socket: Duplex): MqttClientCertificate | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined
  // Several common names come as a list, and none of them can be said to be the one that is meant.
  const { subject, valid_to: validTo } =
    socket.getPeerCertificate() as Partial<DetailedPeerCertificate>
  const commonName: unknown = subject?.CN
  const expiresAtUs = Date.parse(validTo ?? '') * 1_000
  if (typeof commonName !== 'string' || commonName === '' || Number.isNaN(expiresAtUs))
    return undefined
  return { commonName, expiresAtUs }
}
