import { expect, test } from 'vitest'
import { readSettings } from '../../src/config/config.ts'

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }

test('what is sent, what waits, and for how long, can be set', () => {
  const settings = {
    OTEL_BSP_MAX_QUEUE_SIZE: '100',
    OTEL_BSP_SCHEDULE_DELAY: '1000',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
  }
  const { tracing } = readSettings({ ...endpoint, ...settings }).config
  expect(tracing).toEqual({
    collector: '127.0.0.1:4318',
    sampler: 'parentbased_traceidratio',
    ratio: 0.25,
    waitingMax: 100,
    delayMs: 1_000,
  })
})

test('an endpoint of traces alone counts before that of everything', () => {
  const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/v1/traces' }
  expect(readSettings({ ...endpoint, ...own }).config.tracing?.collector).toBe('traces.example')
  expect(readSettings(own).config.tracing?.collector).toBe('traces.example')
})

test.each([
  ['OTEL_SDK_DISABLED', 'true'],
  ['OTEL_TRACES_EXPORTER', 'none'],
])('%s=%s switches them off', (name, value) => {
  const { config, problems } = readSettings({ ...endpoint, [name]: value })
  expect(config.tracing).toBeUndefined()
  expect(problems).toEqual([])
})

const wrong = {
  OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
  OTEL_TRACES_SAMPLER: 'sometimes',
  OTEL_TRACES_SAMPLER_ARG: '2',
  OTEL_BSP_MAX_QUEUE_SIZE: '0',
  OTEL_TRACES_EXPORTER: 'zipkin',
}

test('all that is wrong is said at once, without the password of an address', () => {
  const address = { OTEL_EXPORTER_OTLP_ENDPOINT: 'user:canary@127.0.0.1' }
  const { problems } = readSettings({ ...address, ...wrong })
  const named = new Set(problems.map((problem) => problem.split(' ')[0]))
  expect(named).toEqual(new Set([...Object.keys(address), ...Object.keys(wrong)]))
  expect(problems.join()).not.toContain('canary')
})

test('what is meant for other programs is no problem without an endpoint', () => {
  expect(readSettings(wrong).problems).toEqual([])
})
