import { renameSync, writeFileSync } from 'node:fs'
import { TemporaryFolder } from './temporary-folder.ts'

/** How something fails that nobody waits for. */
export type InjectedFault = 'throw' | 'reject' | 'emit'

/** Threads of the service, by the modules that they begin with. */
export type FaultyThread =
  | 'start'
  | 'worker'
  | 'journal-thread'
  | 'sessions-thread'
  | 'delivery-thread'
  | 'tail-thread'

/** Lets a service that is started with its environment fail as code of it might. */
export class InjectedFaults implements Disposable {
  readonly #folder = new TemporaryFolder()

  readonly environment: Readonly<Record<string, string>> = {
    NODE_OPTIONS: `--import=${new URL('fault-preload.js', import.meta.url).pathname}`,
    STREAMVAULT_TEST_FAULTS: this.#folder.file('fault'),
  }

  /** Lets a thread fail once, within moments. */
  inject(thread: FaultyThread, fault: InjectedFault): void {
    const draft = this.#folder.file('draft')
    writeFileSync(draft, `${thread} ${fault}`)
    // At once: nobody reads half of it.
    renameSync(draft, this.#folder.file('fault'))
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]()
  }
}
