import type { ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installedProgram } from '../../scripts/servers/installed-program.ts'
import { runServer } from '../../scripts/servers/run-server.ts'
import { isLeftOut, TestServer } from './test-server.ts'

const [server, tool] = ['prometheus', 'promtool'].map(installedProgram)

/** Whether this machine lacks Prometheus, for `describe.skipIf`. */
export const isPrometheusMissing = isLeftOut(
  'Prometheus',
  server !== undefined && tool !== undefined,
  'scripts/install-test-tools',
)

/** A Prometheus of one test file, on this machine. */
export class Prometheus extends TestServer {
  readonly #configuration: string

  /** @param configuration the text of prometheus.yml */
  static async start(configuration: string): Promise<Prometheus> {
    const prometheus = new Prometheus(configuration)
    await prometheus.start()
    return prometheus
  }

  private constructor(configuration: string) {
    super()
    this.#configuration = configuration
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  protected override async launch(folder: string, port: number): Promise<ChildProcess> {
    const file = join(folder, 'prometheus.yml')
    writeFileSync(file, this.#configuration)
    return await runServer({
      name: 'Prometheus',
      command: [
        server ?? 'prometheus',
        `--config.file=${file}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      folder,
      outlives: false,
      isReady: async () => await isReady(`http://127.0.0.1:${port}/-/ready`),
    })
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok
  } catch {
    return false
  }
}
