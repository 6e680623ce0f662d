/** Who comes to the service, the page that leads to what they want, and how much they have to do for it. */
export interface Person {
  readonly name: string
  readonly page: string
  /** Commands of the page, with those for the credentials. */
  readonly commandsMax: number
  /** Whether the page ends with an alert: who analyses readings wants none. */
  readonly hasAlert: boolean
  /** Variables of the page that name an address of this machine, and those that name a port: others may use its own. */
  readonly addresses: readonly string[]
  readonly ports: readonly string[]
  /** What the service is started with, beside what the page says. */
  readonly settings: Readonly<Record<string, string>>
}

/** The persons of the index of all pages. */
export const persons: readonly Person[] = [
  {
    name: 'a fleet owner',
    page: 'docs/fifty-devices.md',
    commandsMax: 20,
    hasAlert: true,
    addresses: [],
    ports: [],
    settings: {},
  },
  {
    name: 'a building engineer',
    page: 'docs/from-plc-to-alert.md',
    commandsMax: 28,
    hasAlert: true,
    addresses: ['PLC'],
    ports: [],
    settings: {},
  },
  {
    name: 'an analyst',
    page: 'docs/python.md',
    commandsMax: 20,
    hasAlert: false,
    addresses: [],
    ports: [],
    settings: {},
  },
  {
    name: 'an integrator',
    page: 'docs/first-alert.md',
    commandsMax: 20,
    hasAlert: true,
    addresses: [],
    ports: ['RECEIVER_PORT'],
    // A second attempt is made by the page alone.
    settings: { STREAMVAULT_RESEND_EVERY: '1d' },
  },
]
