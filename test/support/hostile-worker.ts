import { parentPort, workerData } from 'node:worker_threads'
import { type Attacker, attack } from './hostile-mqtt.ts'
import { SeededRandom } from './seeded-random.ts'

export interface AttackPlan {
  readonly port: number
  readonly attacker: Attacker
  readonly seed: number
  /** How many of them attack at a time. */
  readonly attackers: number
  /** How many packets all of them send together, at least. */
  readonly packets: number
}

/** A thread of its own, so that the attackers do not hold up whoever measures what they do. */
const { port, attacker, seed, attackers, packets } = workerData as AttackPlan

const sent = await Promise.all(
  Array.from({ length: attackers }, (_, index) =>
    attack(port, attacker, {
      random: new SeededRandom(seed + index),
      packets: packets / attackers,
    }),
  ),
)
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
parentPort?.postMessage(sent.reduce((sum, one) => sum + one, 0))
