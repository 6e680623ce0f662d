import { createHash } from 'node:crypto'
import type { NamedOption } from 'coap-packet'
import { isOfKind, sourceOf } from '../../src/contracts/definitions/source-kind.ts'
import type {
  FetchConnector,
  FetchedSource,
  FetchRun,
  SourceDefinition,
} from '../../src/contracts/fetch-connector.ts'
import { HiddenValues } from '../http-client/hidden-values.ts'
import { shownAddress } from '../http-client/shown-text.ts'
import { Observation } from './observation.ts'
import { bytesOf } from './options.ts'
import { coapSource } from './source.ts'

/** RFC 7252, section 6.1. */
const standardPort = 5683

/** Resources of devices that tell when they change: CoAP, RFC 7252, and RFC 7641. */
export const coap: FetchConnector = {
  takes: (source) => isOfKind(coapSource, source),
  destinationOf: ({ endpoint }) => destinationOf(new URL(endpoint as string)),
  open: (definition) => new CoapSource(definition),
}

function destinationOf({ hostname, port }: URL) {
  const host = hostname.replace(/^\[|\]$/g, '')
  return { host, port: port === '' ? standardPort : Number(port) }
}

class CoapSource implements FetchedSource {
  readonly identity: string
  readonly #url: URL
  readonly #options: readonly NamedOption[]
  readonly #hidden: HiddenValues

  constructor({ source }: SourceDefinition) {
    const { endpoint, accept, secrets } = sourceOf(coapSource, source)
    this.#hidden = new HiddenValues(secrets)
    this.#url = new URL(endpoint)
    this.#options = optionsOf(this.#url, accept)
    const name = JSON.stringify(['coap', this.#url.href])
    this.identity = createHash('sha256').update(name).digest('base64url')
  }

  async run(run: FetchRun): Promise<void> {
    const { signal } = run
    try {
      await using socket = await run.dial.datagrams({ ...destinationOf(this.#url), signal })
      const shown = `notifications of ${shownAddress(this.#url, this.#hidden)}`
      await new Observation({ socket, run, options: this.#options, source: shown }).follow()
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
}

/** The parts of an address as a request has them: RFC 7252, section 6.4. */
function optionsOf({ hostname, pathname, search }: URL, accept?: number): readonly NamedOption[] {
  const isAddress = /^\[|^[\d.]+$/.test(hostname)
  const path = pathname.split('/').slice(1)
  const query = search.slice(1).split('&')
  return [
    ...(isAddress ? [] : [{ name: 'Uri-Host' as const, value: Buffer.from(hostname) }]),
    ...(path.join('') === '' ? [] : texts('Uri-Path', path)),
    ...(search === '' ? [] : texts('Uri-Query', query)),
    ...(accept === undefined ? [] : [{ name: 'Accept' as const, value: bytesOf(accept) }]),
  ]
}

function texts(name: 'Uri-Path' | 'Uri-Query', values: readonly string[]): readonly NamedOption[] {
  return values.map((value) => ({ name, value: Buffer.from(decodeURIComponent(value)) }))
}
