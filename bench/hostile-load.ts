import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { AttackPlan } from '../test/support/hostile-worker.ts'
import { newPerson } from '../test/support/people.ts'
import type { MqttLoadResult } from './mqtt-load.ts'
import type { Figure } from './report.ts'
import {
  flagsOf,
  mqttFlags,
  runGenerator,
  type StreamvaultTarget,
  startStreamvault,
} from './servers.ts'

const rate = 1_000
const seconds = 8
/**
 * How many packets one attack sends: it is begun again with another seed as long as the load lasts.
 */
const packets = 50_000

/** What hostile packets of a known user do to the acknowledgements of an honest one. */
export async function hostileLoad(): Promise<Figure> {
  const service = await startStreamvault(20)
  const quiet = await openLoop(service)
  const mallory = await newPerson(service.api)
  const { apiKey: username, apiSecret: password } = mallory.key
  const over = new AbortController()
  const attackedS: number[] = []
  const attacks = async () => {
    for (let seed = 1; !over.signal.aborted; seed++) {
      const beganMs = performance.now()
      const attacker = { username, password, userId: mallory.userId }
      await attacked({ port: service.port, attacker, seed, attackers: 8, packets })
      attackedS.push((performance.now() - beganMs) / 1_000)
    }
  }
  const attacking = attacks()
  const honest = await openLoop(service)
  over.abort()
  await attacking
  await service.stop()
  const p99 = honest.latencyUs.p99 / 1_000
  const sent = (packets * attackedS.length) / attackedS.reduce((sum, one) => sum + one, 0)
  return {
    name: `${rate.toLocaleString('en-US')} readings/s of honest clients beside hostile packets`,
    measured: `p99 ${p99.toFixed(0)} ms, max ${(honest.latencyUs.max / 1_000).toFixed(0)} ms under ${Math.round(sent).toLocaleString('en-US')} hostile packets/s (${(packets * attackedS.length).toLocaleString('en-US')} in all); without p99 ${(quiet.latencyUs.p99 / 1_000).toFixed(1)} ms`,
    target: 'p99 under 200 ms',
    isMet: p99 < 200 && honest.errors.length === 0,
  }
}

async function openLoop(service: StreamvaultTarget): Promise<MqttLoadResult> {
  return await runGenerator<MqttLoadResult>('mqtt-load', [
    ...mqttFlags(service),
    ...flagsOf({ rate, seconds, warmup: 1 }),
  ])
}

async function attacked(plan: AttackPlan): Promise<void> {
  const worker = new Worker(new URL('../test/support/hostile-worker.ts', import.meta.url), {
    workerData: plan,
  })
  await once(worker, 'message')
  await worker.terminate()
}
