import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { localSigner } from '../../src/ledgers/keys/local-signer.ts'
import { keyOfSecret, newKey } from '../../src/ledgers/keys/make-key.ts'

describe('the account of a secret', () => {
  test.each([
    // The genesis account of XRPL, whose passphrase is public, and a seed of the documentation of XRPL.
    ['xrpl', 'snoPBrXtMeMyMHUVTgbuqAfg1SUTb', 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh'],
    ['xrpl', 'sEdTM1uX8pu2do5XvTnutH6HsouMaM2', 'rG31cLyErnqeVj2eomEjBZtq7PYaupGYzL'],
    // The first two accounts of anvil and hardhat, with and without 0x.
    [
      'evm',
      '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
      '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    ],
    [
      'evm',
      '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
      '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    ],
  ] as const)('%s %s is %s', async (family, secret, account) => {
    expect(await keyOfSecret(family, secret)).toMatchObject({ account })
  })

  test.each([
    ['xrpl', ''],
    ['xrpl', 'snoPBrXtMeMyMHUVTgbuqAfg1SUTc'],
    ['xrpl', 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'],
    ['evm', 'snoPBrXtMeMyMHUVTgbuqAfg1SUTb'],
    ['evm', '0'.repeat(64)],
    ['evm', 'f'.repeat(64)],
    ['evm', 'a'.repeat(63)],
  ] as const)('there is none of %s for %j', async (family, secret) => {
    expect(await keyOfSecret(family, secret)).toBeUndefined()
  })

  test.each(['xrpl', 'evm'] as const)(
    'a new key of %s is another one each time',
    async (family) => {
      const [one, other] = [await newKey(family), await newKey(family)]
      expect(one.account).not.toBe(other.account)
      expect(one.algorithm).toBe(family === 'xrpl' ? 'Ed25519' : 'secp256k1')
      expect(one.account).toMatch(family === 'xrpl' ? /^r\w{24,34}$/ : /^0x[\da-f]{40}$/i)
    },
  )
})

describe('a signer of the keystore', () => {
  test('signs a digest with secp256k1 as RFC 6979 has it', async () => {
    // https://bitcointalk.org/index.php?topic=285142.40, the vector for the key 1.
    const privateKey = '1'.padStart(64, '0')
    const publicKey = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'
    const signer = localSigner({ algorithm: 'secp256k1', publicKey, privateKey })
    const digest = createHash('sha256').update('Satoshi Nakamoto').digest()

    const { signature, recovery } = await signer.sign(digest)

    expect(Buffer.from(signature).toString('hex')).toBe(
      '934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8' +
        '2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5',
    )
    const { secp256k1 } = await import('@noble/curves/secp256k1.js')
    const recovered = secp256k1.recoverPublicKey(
      Uint8Array.of(recovery ?? 2, ...signature),
      digest,
      { prehash: false },
    )
    expect(Buffer.from(recovered).toString('hex')).toBe(publicKey)
    expect(Buffer.from(signer.publicKey).toString('hex')).toBe(publicKey)
  })

  test('signs nothing with secp256k1 that is no digest', async () => {
    const { algorithm, publicKey, privateKey } = await newKey('evm')
    const signer = localSigner({ algorithm, publicKey, privateKey })

    await expect(signer.sign(Buffer.alloc(33))).rejects.toThrow('a digest has 32 bytes')
  })

  test('signs a message with Ed25519 as RFC 8032 has it', async () => {
    const signer = localSigner({
      algorithm: 'Ed25519',
      privateKey: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
      publicKey: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    })

    const { signature } = await signer.sign(Buffer.from('72', 'hex'))

    expect(Buffer.from(signature).toString('hex')).toBe(
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da' +
        '085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    )
  })
})
