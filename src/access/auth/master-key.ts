import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16

/**
 * The one secret that protects all others at rest. It never leaves this object: others ask it for
 * digests and ciphertexts.
 */
export class MasterKey {
  readonly #digestKey: Buffer
  readonly #cipherKey: Buffer

  /** @throws Error when the key is not 32 bytes long */
  constructor(key: Buffer) {
    if (key.length !== keyBytes) throw new Error('the master key must have 32 bytes')
    // Two purposes, two keys: neither use tells anything about the other.
    this.#digestKey = createHmac('sha256', key).update('digest of secrets').digest()
    this.#cipherKey = createHmac('sha256', key).update('encryption at rest').digest()
  }

  static generate(): Buffer {
    return randomBytes(keyBytes)
  }

  /** Keyed digest of a secret: of no use without the master key, even for a weak secret. */
  digest(secret: string): string {
    return createHmac('sha256', this.#digestKey).update(secret).digest('hex')
  }

  /**
   * Whether a secret has one of these digests, in a time that depends neither on which of them nor
   * on where they differ.
   */
  matches(secret: string, ...digests: readonly string[]): boolean {
    const own = Buffer.from(this.digest(secret))
    let found = 0
    for (const digest of digests) found |= Number(timingSafeEqual(own, Buffer.from(digest)))
    return found === 1
  }

  /** AES-256-GCM: nonce, tag, ciphertext. */
  encrypt(text: string): Buffer {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv('aes-256-gcm', this.#cipherKey, nonce)
    const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext])
  }

  /** @throws Error when the bytes were not encrypted with this key, or were changed */
  decrypt(bytes: Uint8Array): string {
    const nonce = bytes.subarray(0, nonceBytes)
    const options = { authTagLength: tagBytes }
    const decipher = createDecipheriv('aes-256-gcm', this.#cipherKey, nonce, options)
    decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
    const text = decipher.update(bytes.subarray(nonceBytes + tagBytes))
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  }
}
