import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import jwt from 'jsonwebtoken'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import { withLowS } from '../../src/access/auth/token-signature.ts'

/** The key that a service signs its tokens with, taken out of its data. */
export interface SigningKey {
  readonly kid: string
  readonly publicKey: string
  readonly privateKey: string
}

/** With the master key in the folder, or with a given one. */
export function signingKeyIn(dataDir: string, given?: Buffer): SigningKey {
  const stored = () =>
    Buffer.from(readFileSync(join(dataDir, 'master.key'), 'utf8').trim(), 'base64')
  const master = new MasterKey(given ?? stored())
  const state = new DatabaseSync(join(dataDir, 'state.db'), { readOnly: true })
  const row = state
    .prepare(
      `SELECT kid, public_key, private_key_encrypted AS sealed FROM signing_keys
       WHERE accepted_until IS NULL`,
    )
    .get()
  state.close()
  return {
    kid: String(row?.['kid']),
    publicKey: String(row?.['public_key']),
    privateKey: master.decrypt(row?.['sealed'] as Uint8Array),
  }
}

/** The private key that a service signs content with, and its PEM, by what they are. */
export function contentKeyIn(dataDir: string, master: Buffer): (readonly [string, Buffer])[] {
  using state = new DatabaseSync(join(dataDir, 'state.db'), { readOnly: true })
  const row = state
    .prepare(
      'SELECT kid, private_key_encrypted AS sealed FROM content_keys WHERE retired_at IS NULL',
    )
    .get()
  const text = new MasterKey(master).decrypt(row?.['sealed'] as Uint8Array)
  const { d = '' } = createPrivateKey(text).export({ format: 'jwk' })
  const what = `the key for content ${String(row?.['kid'])}`
  return [
    [what, Buffer.from(d, 'base64url')],
    [`${what}, PEM`, Buffer.from(text.split('\n')[1] ?? '')],
  ]
}

/** Signed as the service signs, but for what is given. */
export function signedWith(
  key: SigningKey,
  payload: jwt.JwtPayload,
  options: jwt.SignOptions = {},
): string {
  const all: jwt.SignOptions = { algorithm: 'ES256', keyid: key.kid, ...options }
  return withLowS(jwt.sign(payload, key.privateKey, all))
}
