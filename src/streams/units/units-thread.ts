import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { lineOf } from './unit-conversion.ts'
import type { UnitPair } from './units.ts'

// The only thread that loads the library of units: it takes most of a second and 80 MB, and ends
// with its answer.
const pairs = workerData as readonly UnitPair[]
const port = parentPort as MessagePort
const answer = pairs.map(({ from, to }) => lineOf(from, to))
port.postMessage(answer)
