import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { MailServer } from '../support/mail-server.ts'
import { metricOf } from '../support/metrics.ts'
import { answering, hanging, Receiver } from '../support/receiver.ts'
import {
  adminSecret,
  type ServiceProcess,
  startServiceProcess,
} from '../support/service-process.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { type CollectedSpan, TraceCollector } from '../support/trace-collector.ts'
import { webhooksAt } from '../support/webhook-client.ts'

const preload = new URL('../support/package-log.js', import.meta.url).href
const folder = new TemporaryFolder()
afterAll(() => folder[Symbol.dispose]())

let services = 0

async function started(settings: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  return await startServiceProcess(folder.file(`data-${++services}`), settings)
}

/** Nothing waits for long to be sent. */
const traced = ({ endpoint }: TraceCollector) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_BSP_SCHEDULE_DELAY: '50',
})

/** The first span that is as wanted. */
async function spanOf(
  collector: TraceCollector,
  isWanted: (span: CollectedSpan) => boolean,
): Promise<CollectedSpan> {
  await expect.poll(() => collector.spans.some(isWanted)).toBe(true)
  return collector.spans.find(isWanted) as CollectedSpan
}

const foreign = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

describe('traces', () => {
  test('have a span of a request, in the trace of its sender, without secrets', async () => {
    await using collector = await TraceCollector.start()
    const service = await started({
      ...traced(collector),
      OTEL_SERVICE_NAME: 'plant 7',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=north',
    })
    const api = new ApiClient(service.http)
    const id = await api.createStream()
    const authorization = `Bearer ${await api.token()}`
    await api.request('GET', `/streams/${id}/data?fields=canary`, {
      headers: { authorization, traceparent: foreign },
    })

    const span = await spanOf(collector, ({ parentId }) => parentId !== '')
    await service.end('SIGTERM')

    expect(span).toMatchObject({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentId: 'b7ad6b7169203331',
      name: 'GET /streams/:streamId/data',
      kind: 2,
      resource: { 'service.name': 'plant 7' },
    })
    expect(span.attributes).toMatchObject({
      'http.request.method': 'GET',
      'http.route': '/streams/:streamId/data',
      'url.path': `/streams/${id}/data`,
      'url.scheme': 'http',
      'network.protocol.version': '1.1',
    })
    expect(collector.requests[0]).toMatchObject({
      path: '/v1/traces',
      headers: { 'content-type': 'application/x-protobuf', 'x-tenant': 'north' },
    })
    const sent = JSON.stringify(collector.spans)
    for (const secret of ['canary', adminSecret, await api.token()]) {
      expect(sent).not.toContain(secret)
    }
  })

  test('have no path of an address that is a secret itself, nor one that is unknown', async () => {
    await using collector = await TraceCollector.start()
    const service = await started(traced(collector))
    await fetch(`${service.http}/hooks/canary-token-of-a-hook`, { method: 'POST', body: '{}' })
    await fetch(`${service.http}/nothing/canary`)

    await expect.poll(() => collector.spans.length).toBe(2)
    await service.end('SIGTERM')

    expect(JSON.stringify(collector.spans)).not.toContain('canary')
    expect(
      collector.spans.map(({ attributes }) => attributes['http.response.status_code']),
    ).toEqual([404, 404])
  })

  test('go on at the receiver of a webhook, and have a span of each attempt', async () => {
    await using collector = await TraceCollector.start()
    await using receiver = await Receiver.start()
    receiver.behaviour = answering(410)
    const service = await started({
      ...traced(collector),
      STREAMVAULT_EGRESS_ALLOW: receiver.destination,
    })
    const api = new ApiClient(service.http)
    const url = `${receiver.url}/canary?key=canary`
    const webhook = { url, event_types: ['vault.created'] }
    const { body } = await api.withKey<{ id: string }>('POST', webhooksAt, webhook)
    await api.withKey('POST', `${webhooksAt}/${body.id}/test`, {})

    const [received] = await receiver.requests(1)
    const span = await spanOf(collector, ({ kind }) => kind === 3)
    const sent = await metricOf(service, 'trace_spans_sent_total')
    await service.end('SIGTERM')

    expect(received?.headers['traceparent']).toBe(`00-${span.traceId}-${span.spanId}-01`)
    expect(span).toMatchObject({ name: 'POST', parentId: '', status: 2 })
    expect(span.attributes).toMatchObject({
      'http.request.method': 'POST',
      'server.address': '127.0.0.1',
      'server.port': receiver.port,
      'url.full': `http://127.0.0.1:${receiver.port}/REDACTED`,
      'http.response.status_code': 410,
      'error.type': '410',
      'streamvault.delivery.attempt': 1,
    })
    expect(JSON.stringify(collector.spans)).not.toContain('canary')
    expect(sent).toBeGreaterThanOrEqual(3)
  })

  test('have a span of each attempt to send a mail, without its address', async () => {
    await using collector = await TraceCollector.start()
    await using mails = await MailServer.start()
    const service = await started({ ...traced(collector), STREAMVAULT_SMTP_URL: mails.url })
    const api = new ApiClient(service.http)
    await api.withKey('POST', '/notifications/email-configs', { email: 'canary@plant.example' })

    const span = await spanOf(collector, ({ kind }) => kind === 3)
    await service.end('SIGTERM')

    expect(span).toMatchObject({ name: 'send mail', status: 0 })
    expect(span.attributes).toMatchObject({
      'network.protocol.name': 'smtp',
      'server.port': mails.port,
      'streamvault.smtp.reply_code': 250,
    })
    expect(JSON.stringify(collector.spans)).not.toContain('canary')
  })

  test('are sampled as OTEL_TRACES_SAMPLER says, and the sender decides first', async () => {
    await using collector = await TraceCollector.start()
    const settings = {
      ...traced(collector),
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0',
    }
    const service = await started(settings)
    await fetch(`${service.http}/health/live`)
    await fetch(`${service.http}/health/live`, { headers: { traceparent: foreign } })
    await expect.poll(() => collector.spans.length).toBe(1)
    await service.end('SIGTERM')
    expect(collector.spans.map(({ parentId }) => parentId)).toEqual(['b7ad6b7169203331'])
  })

  test('that wait are sent when the service stops', async () => {
    await using collector = await TraceCollector.start()
    const settings = { ...traced(collector), OTEL_BSP_SCHEDULE_DELAY: '600000' }
    const service = await started(settings)
    await fetch(`${service.http}/health/live`)
    expect(collector.spans).toEqual([])
    expect(await service.end('SIGTERM')).toBe(0)
    expect(collector.spans.map(({ name }) => name)).toEqual(['GET /health/live'])
  })
})

describe('a collector', () => {
  test.each([
    ['that is down', 'failed', async (collector: TraceCollector) => await collector.stop()],
    [
      'that does not answer',
      'dropped',
      async (collector: TraceCollector) => void (collector.behaviour = hanging),
    ],
  ])('%s costs some spans, and nothing else', async (_, fate, breakIt) => {
    await using collector = await TraceCollector.start()
    await breakIt(collector)
    const service = await started({
      ...traced(collector),
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      OTEL_BSP_SCHEDULE_DELAY: '60000',
      OTEL_BSP_MAX_QUEUE_SIZE: '20',
    })
    const asked = Array.from({ length: 100 }, () => fetch(`${service.http}/health/live`))
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([200]))
    await expect.poll(() => metricOf(service, `trace_spans_${fate}_total`)).toBeGreaterThan(0)
    await expect.poll(() => service.output()).toContain('no traces reach')
    expect(await metricOf(service, 'trace_spans_waiting')).toBeLessThanOrEqual(20)
    const before = performance.now()
    expect(await service.end('SIGTERM')).toBe(0)
    expect(performance.now() - before).toBeLessThan(8_000)
    const warnings = service.output().match(/no traces reach/g)
    expect(warnings).toHaveLength(1)
  })
})

/** Packages of OpenTelemetry that a service with these settings loads, when it delivers something. */
async function loaded(settings: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const log = folder.file(`packages-${services}.txt`)
  await using mails = await MailServer.start()
  const service = await started({
    NODE_OPTIONS: `--import=${preload}`,
    PACKAGE_LOG: log,
    STREAMVAULT_SMTP_URL: mails.url,
    ...settings,
  })
  // The thread that delivers runs as well.
  const recipient = { email: 'ada@plant.example' }
  await new ApiClient(service.http).withKey('POST', '/notifications/email-configs', recipient)
  await expect.poll(() => mails.received.length).toBe(1)
  await service.end('SIGTERM')
  const packages = readFileSync(log, 'utf8').split('\n')
  // Prometheus' library has the types of the other.
  return packages.filter((name) => /^@opentelemetry\/(?!api$)/.test(name))
}

describe('the library of traces', () => {
  test('is loaded only with an endpoint', async () => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }
    expect(await loaded({})).toEqual([])
    expect(await loaded({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toEqual([])
    expect(await loaded(endpoint)).toContain('@opentelemetry/sdk-trace')
  })
})
