/** Settings of a Node-RED that only runs the flow: docs/integrations/node-red.md. */
module.exports = {
  uiHost: '127.0.0.1',
  uiPort: Number(process.env.NODE_RED_PORT || 1880),
  flowFile: 'flows.json',
  // Credentials are in the environment, and flows_cred.json has their names.
  credentialSecret: false,
  // No editor, and nobody can change the flow from outside.
  httpAdminRoot: false,
  diagnostics: { enabled: false },
  telemetry: { enabled: false },
  functionExternalModules: true,
  logging: { console: { level: 'info', metrics: false, audit: false } },
}
