import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import type { FleetId, UserId } from '../../src/core/ids.ts'
import { QueriedStreams } from '../../src/reading/queries/queried-streams.ts'
import { TestState } from '../support/test-state.ts'

/** A fleet of so many devices, whose streams have the definitions of a list in turn. */
async function withFleet(
  devices: number,
  definitions: readonly object[],
  check: (queried: QueriedStreams, owner: UserId, fleetId: FleetId) => Promise<void>,
): Promise<void> {
  await using opened = await TestState.open()
  const owner = await opened.newUser()
  const fleetId = randomUUID() as string as FleetId
  {
    using state = new DatabaseSync(opened.path, { enableForeignKeyConstraints: false })
    const columns = '(id, owner_id, vault_id, name, type, created_at, version, tags, name_folded)'
    const stream = state.prepare(
      `INSERT INTO data_streams ${columns} VALUES (?, ?, '', ?, 'iot_sensor', 0, 1, '{}', ?)`,
    )
    const version = state.prepare(
      `INSERT INTO data_stream_versions (stream_id, version, definition, created_at, name, tags) VALUES (?, 1, ?, 0, '', '{}')`,
    )
    const device = state.prepare(
      'INSERT INTO fleet_devices (fleet_id, name, stream_id, version, created_at) VALUES (?, ?, ?, 1, 0)',
    )
    state.exec('BEGIN')
    for (let index = 0; index < devices; index++) {
      const id = randomUUID()
      const name = `device ${index}`
      stream.run(id, owner, name, name)
      version.run(id, JSON.stringify(definitions[index % definitions.length]))
      device.run(fleetId, name, id)
    }
    state.exec('COMMIT')
  }
  await check(new QueriedStreams(opened.state), owner, fleetId)
}

function definitionOf(field: string): object {
  return { source: {}, schema: { [field]: { type: 'number' } }, processing: {}, conversions: {} }
}

/** Different definitions that one query takes. */
const definitionsMax = 1_000

describe('streams of a fleet that are asked about', () => {
  test('have the names of their devices, and the fields of their definitions', async () => {
    const both = [definitionOf('temperature'), definitionOf('pressure')]
    await withFleet(600, both, async (queried, owner, fleetId) => {
      const selected = { ids: undefined, filter: { fleetId, tags: {} } }

      const found = await queried.select(owner, selected, 600)

      const fields = new Map(found.map((one) => [one.device, [...one.fields.keys()]]))
      expect(fields.size).toBe(600)
      expect(fields.get('device 300')).toEqual(['temperature'])
      expect(fields.get('device 301')).toEqual(['pressure'])
    })
  })

  test('are so many at most', async () => {
    await withFleet(4, [definitionOf('temperature')], async (queried, owner, fleetId) => {
      const selected = { ids: undefined, filter: { fleetId, tags: {} } }

      expect(await queried.select(owner, selected, 4)).toHaveLength(4)
      await expect(queried.select(owner, selected, 3)).rejects.toMatchObject({
        code: 'too_many_points',
      })
    })
  })

  test.each([
    [definitionsMax, 'are'],
    [definitionsMax + 1, 'are not'],
  ])('of %d different definitions %s answered', async (count, is) => {
    const definitions = Array.from({ length: count }, (_, index) => definitionOf(`field${index}`))
    await withFleet(count + 1, definitions, async (queried, owner, fleetId) => {
      const selected = { ids: undefined, filter: { fleetId, tags: {} } }
      const found = queried.select(owner, selected, 2 * count)

      if (is === 'are') expect(await found).toHaveLength(count + 1)
      else await expect(found).rejects.toMatchObject({ code: 'too_many_points' })
    })
  })

  test('are those of their owner only', async () => {
    await withFleet(2, [definitionOf('temperature')], async (queried, owner, fleetId) => {
      const other = randomUUID() as string as UserId
      const selected = { ids: undefined, filter: { fleetId, tags: {} } }

      expect(await queried.select(owner, selected, 10)).toHaveLength(2)
      expect(await queried.select(other, selected, 10)).toEqual([])
    })
  })
})
