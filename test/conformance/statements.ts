/**
 * The numbered statements of MQTT Version 3.1.1 (OASIS Standard, 29 October 2014), appendix B, as
 * it prints them: two of them with a slip of the pen, `MQTT-3.1.2.7` and `MQTT-3-8.3-4`.
 */
export const statements: readonly string[] = [
  ...numbered('1.5.3', 3),
  ...numbered('2.2.2', 2),
  ...numbered('2.3.1', 7),
  ...numbered('3.1.0', 2),
  ...numbered('3.1.2', 24).map((number) => number.replace('3.1.2-7', '3.1.2.7')),
  ...numbered('3.1.3', 11),
  ...numbered('3.1.4', 5),
  ...numbered('3.2.0', 1),
  ...numbered('3.2.2', 6),
  ...numbered('3.3.1', 12),
  ...numbered('3.3.2', 3),
  ...numbered('3.3.4', 1),
  ...numbered('3.3.5', 2),
  ...numbered('3.6.1', 1),
  ...numbered('3.8.1', 1),
  ...numbered('3.8.3', 4).map((number) => number.replace('3.8.3-4', '3-8.3-4')),
  ...numbered('3.8.4', 6),
  ...numbered('3.9.3', 2),
  ...numbered('3.10.1', 1),
  ...numbered('3.10.3', 2),
  ...numbered('3.10.4', 6),
  ...numbered('3.12.4', 1),
  ...numbered('3.14.1', 1),
  ...numbered('3.14.4', 3),
  ...numbered('4.1.0', 2),
  ...numbered('4.3.1', 1),
  ...numbered('4.3.2', 2),
  ...numbered('4.3.3', 2),
  ...numbered('4.4.0', 1),
  ...numbered('4.5.0', 2),
  ...numbered('4.6.0', 6),
  ...numbered('4.7.1', 3),
  ...numbered('4.7.2', 1),
  ...numbered('4.7.3', 4),
  ...numbered('4.8.0', 2),
  ...numbered('6.0.0', 4),
  ...numbered('7.0.0', 2),
  ...numbered('7.1.1', 1),
  ...numbered('7.1.2', 1),
]

const ofClients = 'it binds the client'

/** Statements that no test of a server can show, and why. */
export const untestable: Readonly<Record<string, string>> = {
  'MQTT-2.3.1-2': ofClients,
  'MQTT-2.3.1-3': ofClients,
  'MQTT-3.1.2-23': ofClients,
  'MQTT-3.1.3-7': `${ofClients}; what the server answers is MQTT-3.1.3-8`,
  'MQTT-3.8.3-2': 'it binds servers without wildcards, and this one has them',
  'MQTT-3.14.4-1': ofClients,
  'MQTT-3.14.4-2': ofClients,
  'MQTT-4.5.0-2': ofClients,
  'MQTT-4.8.0-2':
    'no client can cause a transient error: test/deep/end-to-end/mqtt-disk-faults.test.ts does, with a failing disk',
  'MQTT-6.0.0-3': ofClients,
  'MQTT-7.0.0-1':
    'the service is a client of other brokers through a library, and joins no servers',
  'MQTT-7.0.0-2': 'every test here connects without an extension',
  'MQTT-7.1.1-1': 'every test here connects over TCP',
  'MQTT-7.1.2-1': ofClients,
}

function numbered(section: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `MQTT-${section}-${index + 1}`)
}
