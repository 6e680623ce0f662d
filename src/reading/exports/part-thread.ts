import { type MessagePort, parentPort } from 'node:worker_threads'
import { lowerThreadPriority } from '../../core/threads/priority.ts'
import { serveCalls } from '../../core/threads/rpc.ts'
import { digestOf, PartFile, type PartPlan, type WrittenPart } from './part-file.ts'

/** What other threads may ask of this one: it writes one part at a time. */
export interface PartProcedures {
  /** Begins a part; one that was begun before is dropped. */
  begin(plan: PartPlan): void
  write(lines: Uint8Array): void
  /** Resolves when the part is on disk under its name. */
  finish(): Promise<WrittenPart>
  drop(): void
  /** SHA-256 of a file, in hex; undefined when there is none. */
  digest(path: string): string | undefined
}

/** Writes files apart from everybody who keeps and processes readings, and behind them. */
function run(port: MessagePort): void {
  lowerThreadPriority()
  let part: PartFile | undefined
  const drop = () => {
    part?.drop()
    part = undefined
  }
  const procedures: PartProcedures = {
    begin(plan) {
      drop()
      part = new PartFile(plan)
    },
    write(lines) {
      part?.write(lines)
    },
    async finish() {
      const finished = part
      part = undefined
      if (finished === undefined) throw new Error('no part was begun')
      return await finished.finish()
    },
    drop,
    digest: digestOf,
  }
  serveCalls(port, procedures)
}

if (parentPort) run(parentPort)
