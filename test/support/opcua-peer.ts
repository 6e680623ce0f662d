import type { SetOrder } from '../../scripts/servers/opcua-process.ts'

/** A server of OPC UA for one test file, whichever library it is made of. */
export interface OpcUaPeer extends AsyncDisposable {
  readonly port: number
  readonly endpoint: string
  /** Sets variables `ns=1;s=NAME`, one after the other; resolves when it is done. */
  set(values: SetOrder['values']): Promise<void>
  start(): Promise<void>
  stop(signal?: NodeJS.Signals): Promise<void>
}
