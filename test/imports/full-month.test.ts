import { expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { fillMonth, fullMonthSchema, lateOfMonth, newestOfMonth } from '../support/full-month.ts'
import { imported } from '../support/imports.ts'
import { startedServices } from '../support/started-services.ts'

const services = startedServices()

test('an import into a month of millions is complete when its rows are there, and its duplicates counted', async () => {
  const dataDir = services.newFolder()
  await fillMonth(dataDir)
  const process = await services.start(dataDir)
  const api = new ApiClient(process.http)
  const streamId = await api.createStream(fullMonthSchema)
  await api.withToken('POST', `/streams/${streamId}/data`, newestOfMonth)
  await api.settled(streamId, 1)
  const content = lateOfMonth.map((reading) => `${JSON.stringify(reading)}\n`).join('')
  const file = { format: 'ndjson', content } as const

  const first = await imported({ api, process }, streamId, file)
  expect(await api.readAll(streamId)).toHaveLength(41)
  const again = await imported({ api, process }, streamId, file)

  expect(first).toMatchObject({ accepted: 40, duplicates: 0 })
  expect(again).toMatchObject({ accepted: 40, duplicates: 40 })
})
