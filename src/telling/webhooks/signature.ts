import { createHmac } from 'node:crypto'

/**
 * HMAC-SHA256 over the exact bytes, keyed with the UTF-8 bytes of the secret: hex
 * (decisions.md#signatures-and-headers).
 */
export function signatureOf(body: string, secret: string): string {
  return createHmac('sha256', Buffer.from(secret)).update(body).digest('hex')
}
