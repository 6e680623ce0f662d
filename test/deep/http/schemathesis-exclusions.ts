/** Checks of schemathesis that are left out, each with the reason. */
export const checksLeftOut: Readonly<Record<string, string>> = {
  positive_data_acceptance:
    'What fits a schema may still be refused for what a schema cannot say: that a vault exists, that a name is free.',
  ensure_resource_availability:
    'Ids in paths are those of things that the test has made, and may be gone: what a request before has made is not asked for.',
  ignored_auth:
    'It sends wrong secrets until the limit of attempts answers 429, where it wants 401. Our tests of permissions do this.',
}

const whatever =
  'What it makes up of another type is still a text in the file, and a file of texts is what is asked for.'

/** Checks that are left out of one operation, by operationId, each with the reason. */
export const checksLeftOutOf: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  importReadings: { negative_data_rejection: whatever },
  downloadAttachedFile: {
    negative_data_rejection: 'What it makes up of the id is not sent: the path has that of a file.',
  },
  uploadFile: {
    unsupported_method:
      'An address that is used with another method than it was signed for is refused as such: 403.',
  },
}

/** Operations that are left out, by operationId, each with the reason. */
export const operationsLeftOut: Readonly<Record<string, string>> = {
  followInbox: 'Its answer is a stream of events, which does not end.',
  tailStream: 'Its answer is a stream of events, which does not end.',
}

const nobodyHasTheLink = 'The token of a link in a mail nobody has but its receiver.'
const noBackup = 'A backup is a matter of the machine, and there is none to ask for.'
const nothingFailed = 'Only what a ledger did not take in time is tried again, and there is none.'
const namesFleet = 'Its address has to name a fleet, and a made up one does not exist.'
const namesStreams = 'Its body names streams or vaults, and made up ones do not exist.'

/** Operations that are asked, and may have nothing but refusals to answer, by operationId, each with the reason. */
export const neverTaken: Readonly<Record<string, string>> = {
  signIn: 'No page of the service asks, and what is made up is the secret of no key.',
  issueToken: 'What is made up is the secret of no key.',
  receiveWebhook: 'What is made up is not signed.',
  allowWebhook: 'It needs the header of the handshake, which is not made up for it.',
  createFleet:
    'Its vault is made up and does not exist, and a topic that is made up names no device.',
  writeDatabaseLines: namesFleet,
  writeBucketLines: namesFleet,
  remoteWrite: namesFleet,
  exportMetrics: namesFleet,
  uploadFile: 'What is made up is not signed.',
  downloadUserPicture: 'What is made up is not signed.',
  registerDevice: 'It is for provisioning keys, and a user asks.',
  pushReadingsToStreams: namesStreams,
  createDevice: namesStreams,
  createDevices: namesStreams,
  createStream:
    'A source that is made up leads where nobody may connect to, or is of another kind than the type of the stream.',
  createStreams: namesStreams,
  createStreamOfTopic: 'Its body names a topic on which something was dropped, and there is none.',
  createAttachment: 'Its body names an asset stream, and one that is made up hardly ever exists.',
  getBackup: noBackup,
  cancelBackup: noBackup,
  lookAtVerification: nobodyHasTheLink,
  verifyByMail: nobodyHasTheLink,
  lookAtUnsubscription: nobodyHasTheLink,
  unsubscribeByMail: nobodyHasTheLink,
  retryVault: nothingFailed,
  retryStream: nothingFailed,
  retryAttachment: nothingFailed,
  retrySignature: nothingFailed,
  retryAsset: nothingFailed,
}
