/** Signs digests; the key never leaves it. A KMS fits. */
export interface Signer {
  readonly algorithm: 'secp256k1' | 'Ed25519'
  /** Compressed secp256k1 (33 bytes) or Ed25519 (32). */
  readonly publicKey: Uint8Array
  /**
   * secp256k1: over a 32-byte digest, 64 bytes r||s with low s, and the recovery bit. Ed25519: over the whole message.
   */
  sign(bytes: Uint8Array): Promise<{ readonly signature: Uint8Array; readonly recovery?: 0 | 1 }>
}
