import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { pino } from 'pino'
import type { Authenticator } from '../../src/access/auth/authenticate.ts'
import { ConsoleFiles } from '../../src/operating/console/console-files.ts'
import { consoleRoutes } from '../../src/operating/console/console-routes.ts'
import { BodiesInFlight } from '../../src/requests/http/bodies-in-flight.ts'
import { buildHttpServer } from '../../src/requests/http/server.ts'
import { TemporaryFolder } from './temporary-folder.ts'

export interface ConsoleAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  /** As they came over the wire. */
  readonly bytes: Buffer
}

export interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

interface Settings {
  readonly corsOrigins?: readonly string[]
  readonly trustedProxies?: readonly string[]
  /** Routes beside those of the console. */
  readonly others?: FastifyPluginAsync
}

/** A server that has the console of a folder, and nothing else unless it is given. */
export class ServedConsole implements AsyncDisposable {
  readonly folder: string
  readonly #parent: TemporaryFolder
  readonly #app: FastifyInstance

  private constructor(parent: TemporaryFolder, app: FastifyInstance) {
    this.#parent = parent
    this.folder = parent.file('console')
    this.#app = app
  }

  static async start(settings: Settings = {}): Promise<ServedConsole> {
    const { corsOrigins = [], trustedProxies = [], others = async () => undefined } = settings
    const parent = new TemporaryFolder()
    const app = await buildHttpServer({
      logger: pino({ level: 'silent' }),
      version: '1.2.3',
      publicUrl: 'http://vault.example',
      checkAnswers: true,
      bodies: new BodiesInFlight(),
      network: { certificate: undefined, corsOrigins, trustedProxies },
      authenticator: undefined as unknown as Authenticator,
      openRoutes: [others, consoleRoutes({ files: new ConsoleFiles(parent.file('console')) })],
      signedRoutes: [],
      routes: [],
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
    return new ServedConsole(parent, app)
  }

  async ask(path: string, { method = 'GET', headers = {} }: Asked = {}): Promise<ConsoleAnswer> {
    const { port } = this.#app.server.address() as AddressInfo
    const asked = request({ host: '127.0.0.1', port, path, method, headers, agent: false })
    asked.end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of answer) chunks.push(chunk as Buffer)
    return {
      status: answer.statusCode ?? 0,
      headers: answer.headers,
      bytes: Buffer.concat(chunks),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app.close()
    this.#parent[Symbol.dispose]()
  }
}

export const builtPage = '<!doctype html><title>Streamvault</title>'
export const builtScript = `console.log('${'a page '.repeat(100)}')`
export const scriptPath = '/console/assets/main-4f2a.js'

/** What a build leaves in a folder. */
export function writeBuilt(folder: string, page = builtPage): void {
  write(folder, 'index.html', page)
  write(folder, 'icon.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>')
  write(folder, 'assets/main-4f2a.js', builtScript)
  write(folder, 'assets/main-4f2a.js.br', brotliCompressSync(builtScript))
  write(folder, 'assets/main-4f2a.js.gz', gzipSync(builtScript))
  write(folder, 'stamp.json', JSON.stringify({ sources: page }))
}

function write(folder: string, path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}
