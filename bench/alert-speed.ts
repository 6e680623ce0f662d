import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import mqtt from 'mqtt'
import { answering, Receiver } from '../test/support/receiver.ts'
import { backtestSpeed } from './backtest-speed.ts'
import { loadFleet, makeFleet, medianOf, warmupOf } from './fleet.ts'
import { LatencyHistogram } from './latency-histogram.ts'
import { type Figure, printFigure } from './report.ts'
import { type StreamvaultTarget, startStreamvault } from './servers.ts'

/** What the readings of the load generators never do: their temperatures are below 40. */
const tooHot = { id: 'too-hot', field: 'temperature', operator: '>', threshold: 80 }

/** What alerts cost, and how quickly they are told. */
export async function alertSpeed(rounds: number, seconds: number): Promise<readonly Figure[]> {
  return [await costOfRules(rounds, seconds), await wayToWebhook(seconds), await backtestSpeed()]
}

/** Acknowledgements of ten thousand streams with a rule each, and without: pairs of runs, in turn. */
async function costOfRules(rounds: number, seconds: number): Promise<Figure> {
  const streams = 10_000
  const ratios: number[] = []
  const rates: string[] = []
  for (let round = 0; round < rounds; round++) {
    const without = await rateOf(streams, [], seconds)
    const ruled = await rateOf(streams, [tooHot], seconds)
    ratios.push(ruled / without)
    rates.push(`${ruled.toLocaleString('en-US')} of ${without.toLocaleString('en-US')}`)
  }
  const ratio = medianOf(ratios)
  return {
    name: '10,000 rules on 10,000 streams: acknowledgements a second, with rules and without',
    measured: `${rates.join(', ')}; ratio ${ratio.toFixed(2)}`,
    target: 'ratio 0.8',
    isMet: ratio >= 0.8,
  }
}

async function rateOf(count: number, rules: readonly object[], seconds: number): Promise<number> {
  const target = await startStreamvault(0)
  const topics = await makeFleet(target.api, {
    streams: count,
    processing: () => (rules.length > 0 ? { alerting: rules } : undefined),
  })
  const result = await loadFleet(target, topics, { seconds, warmup: warmupOf(count) })
  await target.stop()
  return Math.round(result.perSecond)
}

/**
 * From the PUBACK of a reading that breaks a rule to the request at the webhook, at ten thousand readings a
 * second of which a hundred begin an alert, each on a stream of its own.
 */
async function wayToWebhook(seconds: number): Promise<Figure> {
  const [rate, transitions] = [10_000, 100]
  await using receiver = await Receiver.start()
  receiver.behaviour = answering(204)
  const target = await startStreamvault(0, { STREAMVAULT_EGRESS_ALLOW: receiver.destination })
  const topics = await makeFleet(target.api, {
    streams: 1_000 + transitions * (seconds + 1),
    processing: () => ({ alerting: [tooHot] }),
  })
  const [quiet, hot] = [topics.slice(0, 1_000), topics.slice(1_000)]
  const webhook = { url: receiver.url, events: ['stream.alert_triggered'] }
  await target.api.withToken('POST', '/webhooks', webhook)
  const warmup = 3
  const loading = loadFleet(target, quiet, {
    rate: rate - transitions,
    seconds: seconds + 2,
    warmup,
  })
  await sleep(warmup * 1_000)
  const acknowledgedMs = await breakRules(target, hot, 1_000 / transitions)
  const received = await receiver.requests(hot.length)
  const { perSecond } = await loading
  await target.stop()
  const latency = new LatencyHistogram()
  // The first second warms up: code that is new is compiled then.
  const timed = new Set(hot.slice(transitions))
  for (const { body, atMs } of received) {
    const { data } = JSON.parse(body.toString()) as { readonly data: { readonly streamId: string } }
    const topic = `streams/${data.streamId}/data`
    if (!timed.has(topic)) continue
    latency.record(Math.max(0, atMs - (acknowledgedMs.get(topic) ?? 0)) * 1_000)
  }
  const [p50, p99] = [latency.percentile(50) / 1_000, latency.percentile(99) / 1_000]
  return {
    name: `a reading acknowledged to its alert at the webhook, ${transitions} a second beside ${Math.round(perSecond).toLocaleString('en-US')} readings/s`,
    measured: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, max ${(latency.max / 1_000).toFixed(1)} ms (${latency.count} alerts)`,
    target: 'p50 under 20 ms, p99 under 100 ms',
    isMet: p50 < 20 && p99 < 100,
  }
}

/** One reading on each topic, evenly spread. Resolves with when each was acknowledged. */
async function breakRules(
  target: StreamvaultTarget,
  topics: readonly string[],
  everyMs: number,
): Promise<ReadonlyMap<string, number>> {
  const { username = '', password = '' } = target
  const url = `mqtt://127.0.0.1:${target.port}`
  const client = await mqtt.connectAsync(url, { username, password })
  const acknowledgedMs = new Map<string, number>()
  const beganMs = performance.now()
  const published: Promise<void>[] = []
  const publish = async (topic: string, reading: string) => {
    await client.publishAsync(topic, reading, { qos: 1 })
    acknowledgedMs.set(topic, performance.now())
  }
  for (const [index, topic] of topics.entries()) {
    const waitMs = beganMs + index * everyMs - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    const reading = { timestamp: new Date().toISOString(), temperature: 99 }
    published.push(publish(topic, JSON.stringify(reading)))
  }
  await Promise.all(published)
  await client.endAsync()
  return acknowledgedMs
}

/** By itself with `npm run bench:alerts`. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '5' },
    },
  })
  for (const figure of await alertSpeed(Number(values.rounds), Number(values.seconds))) {
    printFigure(figure)
  }
}

if (import.meta.main) await main()
