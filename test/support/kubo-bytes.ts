import { createCipheriv, createHash } from 'node:crypto'

const pieceBytes = 1024 * 1024

/**
 * The bytes that the tests of kubo make for their vectors (`random_deterministic.go`):
 * the key stream of ChaCha20 under the SHA-256 of a seed.
 */
export async function* kuboBytes(size: number, seed: string): AsyncGenerator<Uint8Array> {
  const key = createHash('sha256').update(seed).digest()
  const cipher = createCipheriv('chacha20', key, Buffer.alloc(16))
  for (let left = size; left > 0; left -= pieceBytes) {
    yield cipher.update(Buffer.alloc(Math.min(pieceBytes, left)))
  }
}
