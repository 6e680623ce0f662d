/** Who comes to the service, the page that leads to what they want, and how much they have to do for it. */
export interface Person {
  readonly name: string
  readonly page: string
  /** Commands of the page, with those for the credentials. */
  readonly commandsMax: number
  /** Whether the page ends with an alert: who analyses readings wants none. */
  readonly hasAlert: boolean
  /** What the page says that the service is started with. */
  readonly settings: Readonly<Record<string, string>>
}

/** The persons of the index of all pages. */
export const persons: readonly Person[] = [
  {
    name: 'a fleet owner',
    page: 'docs/fifty-devices.md',
    commandsMax: 20,
    hasAlert: true,
    settings: {},
  },
  {
    name: 'a building engineer',
    page: 'docs/from-plc-to-alert.md',
    commandsMax: 20,
    hasAlert: true,
    settings: {},
  },
  { name: 'an analyst', page: 'docs/python.md', commandsMax: 20, hasAlert: false, settings: {} },
  {
    name: 'an integrator',
    page: 'docs/first-alert.md',
    commandsMax: 20,
    hasAlert: true,
    settings: {},
  },
]
