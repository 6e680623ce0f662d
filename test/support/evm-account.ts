import { ECDH } from 'node:crypto'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { hexToBytes } from 'viem/utils'
import type { Signer } from '../../src/ledgers/signer.ts'

/** The first account that anvil and hardhat give money to (the mnemonic is `test test … junk`). */
const richKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

/** The second. */
export const otherRichKey = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'

type Key = `0x${string}`

/** Signs with a key in memory. */
export function signerOf(privateKey: Key = richKey): Signer {
  const { publicKey } = privateKeyToAccount(privateKey)
  const point = hexToBytes(publicKey)
  return {
    algorithm: 'secp256k1',
    publicKey: ECDH.convertKey(point, 'secp256k1', undefined, undefined, 'compressed') as Buffer,
    async sign(digest) {
      const hash: Key = `0x${Buffer.from(digest).toString('hex')}`
      const { r, s, yParity } = await sign({ hash, privateKey })
      return {
        signature: Buffer.concat([hexToBytes(r), hexToBytes(s)]),
        recovery: yParity as 0 | 1,
      }
    },
  }
}
