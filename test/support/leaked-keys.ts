import { expect } from 'vitest'
import type { ApiClient } from './api-client.ts'
import type { MadeKey } from './people.ts'
import type { Secrets } from './secret-findings.ts'
import { Signer } from './signers.ts'

/** Has something signed, and sends private keys where public ones belong, under an Idempotency-Key. */
export async function leakedKeys(
  api: ApiClient,
  { apiKey, apiSecret }: MadeKey,
  idempotencyKey: string,
) {
  const headers = { 'idempotency-key': idempotencyKey }
  const secrets: Secrets = new Map()
  const answers: string[] = []
  const key = { 'x-api-key': apiKey, 'x-api-secret': apiSecret }
  const ask = async (path: string, body: object, more: object, expected: number) => {
    const all = { headers: { ...key, ...more }, body }
    const answer = await api.request<{ id: string }>('POST', path, all)
    expect(answer.status).toBe(expected)
    answers.push(JSON.stringify(answer.body))
    return answer.body.id
  }
  const stream = await ask('/streams', { asset_code: 'SIGNED', description: null }, {}, 201)
  const wanted = { name: 'report', stream_id: stream, ledger: 'XRPL' }
  const path = `/attachments/${await ask('/attachments', wanted, {}, 201)}/signatures`
  answers.pop()
  await ask(path, {}, {}, 201)
  for (const signer of [new Signer('Ed25519'), new Signer('ES256')]) {
    const { d = '' } = signer.secret
    secrets.set(`a private key of ${signer.algorithm}`, Buffer.from(d))
    secrets.set(`its bytes, ${signer.algorithm}`, Buffer.from(d, 'base64url'))
    for (const publicKey of [signer.secret, { ...signer.jwk, [d]: d }, d, [d]]) {
      await ask(path, { ...signer.bodyFor('b'), public_key: publicKey }, headers, 400)
    }
  }
  return { secrets, answers }
}
