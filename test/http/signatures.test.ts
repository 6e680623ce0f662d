import { createPublicKey, verify } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { atStatus, makers, statusesOf } from '../support/anchored.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService({ STREAMVAULT_ANCHORING: 'on' })

describe('a signature by the service', () => {
  test('of what is there comes onto the ledger, and its key is published', async () => {
    const attachmentId = await makers.attachments(service.api)
    const path = `/attachments/${attachmentId}/signatures`

    const asked = await service.api.withKey<{ id: string }>('POST', path, {})

    expect(asked.status).toBe(201)
    expect(asked.body).toMatchObject({ status: 'SERVICE_RECEIVED', signature: '', cid: '' })
    const signature = await atStatus(service.api, `${path}/${asked.body.id}`, 'COMPLETED')
    expect(statusesOf(signature)).toEqual([
      'SERVICE_RECEIVED',
      'METADATA_STORED',
      'LEDGER_SUBMITTED',
      'COMPLETED',
    ])
    const published = await service.api.request<{ keys: { x: string; kid: string }[] }>(
      'GET',
      '/.well-known/signing-keys.json',
    )
    const [key] = published.body.keys
    expect(signature['public_key']).toEqual({ kty: 'OKP', crv: 'Ed25519', x: key?.x })
    const publicKey = createPublicKey({
      key: signature['public_key'] as Record<string, string>,
      format: 'jwk',
    })
    const text = String(signature['signed_text'])
    expect(text).toBe(
      `Streamvault signature of content, version 1\nCID: ${String(signature['cid'])}\n`,
    )
    const bytes = Buffer.from(String(signature['signature']), 'base64url')
    expect(verify(null, Buffer.from(text), publicKey, bytes)).toBe(true)
  })
})
