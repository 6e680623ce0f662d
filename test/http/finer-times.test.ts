import { describe, expect, test } from 'vitest'
import { imported } from '../support/imports.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { push } from '../support/ways.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

/** One instant, with more digits than microseconds have: the double next to most of them is a microsecond later. */
const spellings = {
  epoch_s: [
    '1767225600.123456',
    '1767225600.1234569',
    '1767225600.123456999999999',
    '1.7672256001234569e9',
    '1767225600123456.9e-6',
  ],
  epoch_ms: ['1767225600123.456', '1767225600123.4569999', '1.7672256001234569999e12'],
  epoch_us: ['1767225600123456', '1767225600123456.9', '1.7672256001234569e15'],
} as const

const instant = '2026-01-01T00:00:00.123456Z'

const lineOf = (at: string) => `{"value":1.5,"at":${at}}`

const ways: Readonly<
  Record<string, (streamId: string, times: readonly string[]) => Promise<void>>
> = {
  'one by one': async (streamId, times) => {
    for (const at of times) {
      const path = `/streams/${streamId}/data`
      await push(service.api, path, 'application/json', Buffer.from(lineOf(at)))
    }
  },
  'in a list': async (streamId, times) => {
    const body = Buffer.from(`[${times.map(lineOf).join(',')}]`)
    await push(service.api, `/streams/${streamId}/data`, 'application/json', body)
  },
  'with a field that nobody knows': async (streamId, times) => {
    // Objects like that are not scanned, and the field is the same each time.
    const lines = times.map((at) => `{"other":[1],"value":1.5,"at":${at}}`)
    const body = Buffer.from(`[${lines.join(',')}]`)
    await push(service.api, `/streams/${streamId}/data`, 'application/json', body)
  },
  'in lines': async (streamId, times) => {
    const body = Buffer.from(times.map(lineOf).join('\n'))
    await push(service.api, `/streams/${streamId}/data`, 'application/x-ndjson', body)
  },
  'among readings of several streams': async (streamId, times) => {
    const all = times.map((at) => `{"streamId":"${streamId}",${lineOf(at).slice(1)}`)
    await push(service.api, '/data', 'application/json', Buffer.from(`[${all.join(',')}]`))
  },
  'over MQTT': async (streamId, times) => {
    const { mqtt } = await connect({ apiKey: adminKey, apiSecret: adminSecret })
    for (const at of times) {
      await mqtt.publishAsync(`streams/${streamId}/data`, lineOf(at), { qos: 1 })
    }
  },
  'in a file of NDJSON': async (streamId, times) => {
    const content = times.map((at) => `${lineOf(at)}\n`).join('')
    await imported(service, streamId, { format: 'ndjson', content })
  },
  'in a file of CSV': async (streamId, times) => {
    const content = ['at,value', ...times.map((at) => `${at},1.5`), ''].join('\r\n')
    await imported(service, streamId, { format: 'csv', content })
  },
}

describe.each(Object.keys(spellings) as (keyof typeof spellings)[])('in %s', (timestampFormat) => {
  test.each(Object.keys(ways))(
    'one instant that is spelled in several ways is one reading: %s',
    async (way) => {
      const { api } = service
      const source = { timestampField: 'at', timestampFormat }
      const streamId = await api.createStream({ value: { type: 'number' } }, { source })
      const times = spellings[timestampFormat]
      await ways[way]?.(streamId, times)

      const counters = await api.settled(streamId, times.length)
      expect(counters).toMatchObject({ stored: 1, duplicates: times.length - 1 })
      expect(await api.readAll(streamId)).toMatchObject([{ timestamp: instant }])
    },
  )
})
