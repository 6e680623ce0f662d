import { DatabaseSync } from 'node:sqlite'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import {
  type AssetStream,
  newAssetStream,
  type Page,
  templateFor,
  type VaultBody,
  vaultFrom,
} from '../support/asset-streams.ts'
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { asStored } from '../support/stored-resource.ts'
import { withoutAddresses } from '../support/uploads.ts'

const service = runningService()

let ada: Person
let bob: Person

beforeAll(async () => {
  bob = await newPerson(service.api)
})

beforeEach(async () => {
  ada = await newPerson(service.api)
})

function query(statement: string, ...parameters: readonly string[]) {
  using state = new DatabaseSync(`${service.process.dataDir}/state.db`, { readOnly: true })
  return state.prepare(statement).all(...parameters)
}

describe('a vault', () => {
  test('lists the asset streams that its template requires, in its order, in every answer', async () => {
    const iron = await newAssetStream(ada, 'IRON')
    const gold = await newAssetStream(ada, 'GOLD')
    const templateId = await templateFor(ada, 'GOLD', 'IRON')

    const created = await vaultFrom(ada, templateId)

    expect(created.streams).toEqual([asStored(gold), asStored(iron)])
    expect(created).toMatchObject({ failure: null })
    const path = `/vaults/${created.id}`
    const shown = asStored(withoutAddresses(created))
    expect(withoutAddresses((await ada.withKey('GET', path)).body)).toEqual(shown)
    expect(withoutAddresses((await ada.withToken('GET', path)).body)).toEqual(shown)
    expect((await bob.withKey('GET', path)).body).toEqual(shown)
    const changed = await ada.withKey('PUT', path, { name: 'pump' })
    expect(withoutAddresses(changed.body)).toEqual({ ...shown, name: 'pump' })
    const { body } = await ada.withKey<Page<VaultBody>>('GET', '/vaults')
    expect(withoutAddresses(body.content)).toEqual([withoutAddresses(changed.body)])
  })

  test('shows an asset stream as it is now', async () => {
    const { id } = await newAssetStream(ada, 'GOLD')
    const created = await vaultFrom(ada, await templateFor(ada, 'GOLD'))
    await ada.withKey('PUT', `/streams/${id}`, { description: 'coins' })

    const { body } = await ada.withKey<VaultBody>('GET', `/vaults/${created.id}`)
    expect(body.streams[0]?.['description']).toBe('coins')
  })

  test('is not made while one of them is missing, or only somebody else has it: 422 naming it', async () => {
    await newAssetStream(ada, 'GOLD')
    await bob.withKey('POST', '/streams', { asset_code: 'IRON', description: null })
    const templateId = await templateFor(ada, 'GOLD', 'IRON')

    const body = { template_id: templateId, name: 'boiler 7' }
    const answer = await ada.withKey<ErrorBody>('POST', '/vaults', body)

    expect([answer.status, answer.body.error]).toEqual([422, 'missing_required_streams'])
    expect(answer.body.message).toMatch(/IRON$/)
    expect(answer.body.details).toHaveLength(1)
    const vaults = await ada.withKey<Page<VaultBody>>('GET', '/vaults')
    expect(vaults.body.total_records).toBe(0)
  })

  test('is made with all of them or not at all, however they come and go meanwhile', async () => {
    await newAssetStream(ada, 'GOLD')
    const templateId = await templateFor(ada, 'GOLD')
    const body = { template_id: templateId, name: 'boiler 7' }
    const wrong: unknown[] = []
    for (let round = 0; round < 20; round++) {
      const { body: listed } = await ada.withKey<Page<AssetStream>>('GET', '/streams')
      const id = listed.content[0]?.id
      const [vaults, removal] = await Promise.all([
        Promise.all(
          Array.from({ length: 3 }, () => ada.withKey<VaultBody>('POST', '/vaults', body)),
        ),
        ada.withKey('DELETE', `/streams/${id}`),
      ])
      const statuses = vaults.map(({ status }) => status)
      const isGone = removal.status === 204
      // Whichever is first decides for all: a vault keeps the asset stream, and without that none is made.
      const expected = isGone ? 422 : 201
      if (statuses.some((status) => status !== expected)) wrong.push([removal.status, statuses])
      for (const one of vaults) {
        if (one.status === 201) await ada.withKey('DELETE', `/vaults/${one.body.id}`)
      }
      if (isGone) await newAssetStream(ada, 'GOLD')
    }

    expect(wrong).toEqual([])
    expect(
      query('SELECT * FROM vault_streams WHERE stream_id NOT IN (SELECT id FROM asset_streams)'),
    ).toEqual([])
  })
})

describe('a listed asset stream', () => {
  test('cannot be deleted (409) while a vault lists it, and not any more once that is gone', async () => {
    const { id } = await newAssetStream(ada, 'GOLD')
    const { id: vaultId } = await vaultFrom(ada, await templateFor(ada, 'GOLD'))

    const refused = await ada.withKey<ErrorBody>('DELETE', `/streams/${id}`)
    expect([refused.status, refused.body.error]).toEqual([409, 'conflict'])
    expect(refused.body.message).toMatch(/a vault lists/)
    expect((await ada.withKey('DELETE', `/vaults/${vaultId}`)).status).toBe(204)
    expect((await ada.withKey('DELETE', `/streams/${id}`)).status).toBe(204)
    expect(query('SELECT * FROM vault_streams WHERE vault_id = ?', vaultId)).toEqual([])
  })

  test('is in the events of its vault', async () => {
    const gold = await newAssetStream(ada, 'GOLD')
    const { id } = await vaultFrom(ada, await templateFor(ada, 'GOLD'))
    await ada.withKey('DELETE', `/vaults/${id}`)

    const rows = query('SELECT type, data FROM events WHERE resource_id = ?', id)
    const told = rows.map(({ type, data }) => [
      type,
      (JSON.parse(String(data)) as VaultBody).streams,
    ])
    expect(told).toEqual([
      ['vault.created', [asStored(gold)]],
      ['vault.deleted', [asStored(gold)]],
    ])
  })
})
