import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** An empty folder that is removed at the end of the block that declares it with `using`. */
export class TemporaryFolder implements Disposable {
  readonly path: string

  /** @param within where it is made: where temporary folders are, or another disk */
  constructor(within = tmpdir()) {
    this.path = mkdtempSync(join(within, 'streamvault-test-'))
  }

  file(name: string): string {
    return join(this.path, name)
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}
