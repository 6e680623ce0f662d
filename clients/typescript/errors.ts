// Made from the OpenAPI document of the service by `npm run docs`; do not edit.

/** What each code of an error answer means, and what to do about it. */
export const errorCatalogue = {
  ambiguous_credentials: {
    status: 400,
    meaning: 'The request carries a bearer token and a key at once.',
    remedy: 'Send either Authorization: Bearer, or x-api-key with x-api-secret, and not both.',
    retryable: false,
  },
  body_too_large: {
    status: 413,
    meaning: 'The body is larger than this operation takes.',
    remedy:
      'Send less in one request, such as several smaller batches; GET /openapi.json has the limit of each operation.',
    retryable: false,
  },
  conflict: {
    status: 409,
    meaning: 'The present state, or something that depends on it, does not allow the change.',
    remedy:
      'Read the resource again, change what the message names as in the way, then repeat the request with its new ETag in If-Match.',
    retryable: false,
  },
  data_folder_gone: {
    status: 503,
    meaning:
      'Files of the data folder were deleted, moved or replaced under the running service: nothing can be stored.',
    remedy:
      'Send it again after retryAfter seconds; the operator has to put the files of STREAMVAULT_DATA_DIR back, or restart the service.',
    retryable: true,
  },
  destination_not_allowed: {
    status: 422,
    meaning: 'The address is in a private network, or not on the public internet.',
    remedy:
      'Name a public address, or ask the operator of the service to list this one in STREAMVAULT_EGRESS_ALLOW.',
    retryable: false,
  },
  disk_full: {
    status: 507,
    meaning: 'There is not enough space left on the disk for the file.',
    remedy:
      'Delete what you do not need, such as exports (DELETE /exports/{exportId}), or ask the operator for more space at STREAMVAULT_DATA_DIR; then repeat the request, or resume the job.',
    retryable: false,
  },
  disk_low: {
    status: 503,
    meaning: 'The disk of the service has less free space than it keeps for itself.',
    remedy:
      'Send the readings again after retryAfter seconds; the operator has to make room at STREAMVAULT_DATA_DIR.',
    retryable: true,
  },
  download_refused: {
    status: 403,
    meaning: 'The address of the file was changed, or has expired.',
    remedy:
      'Read the resource again with GET, such as GET /attachments/{attachmentId}, for a new address.',
    retryable: false,
  },
  file_rejected: {
    status: 422,
    meaning: 'The file is not of a kind that is accepted here, or its archive is damaged.',
    remedy:
      'Send a file without the fault that the message names, to a new address from POST /attachments; docs/files.md has the kinds and limits. Nothing of this file is kept.',
    retryable: false,
  },
  files_full: {
    status: 507,
    meaning: 'The files of the user would need more space than one user may have.',
    remedy:
      'Delete files that are not needed (DELETE /attachments/{attachmentId}), or ask the operator to raise STREAMVAULT_FILES_MAX.',
    retryable: false,
  },
  headers_too_large: {
    status: 431,
    meaning: 'The request has more than 100 headers, or more than 16 KiB of them.',
    remedy: 'Send fewer or shorter headers, such as a shorter Cookie.',
    retryable: false,
  },
  idempotency_conflict: {
    status: 422,
    meaning: 'This Idempotency-Key was used with another body.',
    remedy: 'Send a new value in Idempotency-Key for a new request.',
    retryable: false,
  },
  insufficient_permissions: {
    status: 403,
    meaning: 'The key lacks the permission that the message names.',
    remedy:
      'Use a key that has the permission. POST /keys makes one, and x-required-scope in GET /openapi.json names the permission of each operation.',
    retryable: false,
  },
  internal_error: {
    status: 500,
    meaning: 'The service has a fault of its own; the details are in its log.',
    remedy:
      'Give the operator the time and the path of the request: the log of the service has the details. GET /health/ready says whether a part is down.',
    retryable: false,
  },
  invalid_api_key: {
    status: 401,
    meaning: 'The key, its secret or the token is not valid, or was revoked.',
    remedy:
      'Check x-api-key and x-api-secret, or get a new token with POST /auth/token; the owner of the account makes a new key with POST /keys.',
    retryable: false,
  },
  invalid_request: {
    status: 400,
    meaning: 'A parameter or the body is not what the operation takes; details name each place.',
    remedy:
      'Correct each place that details names; GET /openapi.json says what the operation takes.',
    retryable: false,
  },
  invalid_signature: {
    status: 401,
    meaning:
      'The message of a webhook has no signature, a signature by another secret, or one that is too old.',
    remedy:
      'Sign the message with the secret of the stream and with a correct clock, as docs/inbound-webhooks.md says; POST /streams/{streamId}/source/rotate-secret makes a new secret.',
    retryable: false,
  },
  journal_full: {
    status: 503,
    meaning: 'The journal has reached its limit or its disk is full.',
    remedy:
      'Send the reading again after retryAfter seconds; the operator can raise STREAMVAULT_JOURNAL_MAX or make room on the disk.',
    retryable: true,
  },
  journal_unavailable: {
    status: 503,
    meaning: 'The disk of the journal has failed: nothing can be acknowledged.',
    remedy: 'Keep the readings, and send them again when GET /health/ready answers 200.',
    retryable: true,
  },
  malformed_body: {
    status: 400,
    meaning: 'The body cannot be parsed.',
    remedy:
      'Send a body that fits Content-Type and Content-Encoding, such as well-formed JSON in UTF-8, with 1 to 10,000 readings where they are sent; POST /streams/{streamId}/validate tries readings out.',
    retryable: false,
  },
  malformed_request: {
    status: 400,
    meaning: 'The bytes on the connection are not HTTP/1.1.',
    remedy:
      'Check the client: it has to speak HTTP/1.1 with a Host header, and https where STREAMVAULT_TLS_CERT is set.',
    retryable: false,
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The path exists, but not with this method.',
    remedy: 'Use a method that the Allow header names.',
    retryable: false,
  },
  missing_credentials: {
    status: 401,
    meaning: 'The operation needs credentials, and the request has no credentials.',
    remedy:
      'Send Authorization: Bearer with a token from POST /auth/token, or x-api-key with x-api-secret.',
    retryable: false,
  },
  missing_required_streams: {
    status: 422,
    meaning: 'The template requires asset streams that the caller does not have.',
    remedy: 'Create the asset streams that details names first, with POST /streams.',
    retryable: false,
  },
  not_acceptable: {
    status: 406,
    meaning: 'The operation has no answer of a content type that the Accept header takes.',
    remedy: 'Name a content type in Accept that the message lists.',
    retryable: false,
  },
  not_found: {
    status: 404,
    meaning: 'The path or the resource does not exist, or the caller may not see it.',
    remedy:
      'Compare the id with the list of its kind, such as GET /streams; GET /users says whose key is used.',
    retryable: false,
  },
  origin_not_allowed: {
    status: 403,
    meaning:
      'A page of this origin may not open a WebSocket here, or not use a session of the console.',
    remedy:
      'Ask the operator to list the origin in STREAMVAULT_CORS_ORIGINS, or to set STREAMVAULT_PUBLIC_URL to the address of the console.',
    retryable: false,
  },
  overloaded: {
    status: 503,
    meaning: 'More requests wait than the service holds in memory.',
    remedy: 'Send the request again after retryAfter seconds, as Retry-After says.',
    retryable: true,
  },
  position_expired: {
    status: 410,
    meaning: 'The readings after this position are not in the journal any more.',
    remedy:
      'Follow the stream again, with start or last in place of from and Last-Event-ID; readings may then come again.',
    retryable: false,
  },
  precondition_failed: {
    status: 412,
    meaning: 'The resource has another version by now than the If-Match header names.',
    remedy:
      'Read the resource again, bring both changes together, and send them with its new ETag in If-Match.',
    retryable: false,
  },
  query_too_slow: {
    status: 422,
    meaning: 'The query needs more time or memory than one query may use, and was stopped.',
    remedy:
      'Ask for less time between start and end, fewer streams or fields, or longer buckets in aggregation.',
    retryable: false,
  },
  range_not_satisfiable: {
    status: 416,
    meaning: 'The file is not as long as the Range header asks for.',
    remedy: 'Ask in Range for bytes within the length that Content-Range names.',
    retryable: false,
  },
  rate_limited: {
    status: 429,
    meaning: 'The caller sends too many requests.',
    remedy: 'Ask again after retryAfter seconds, as Retry-After says.',
    retryable: true,
  },
  reading_rejected: {
    status: 422,
    meaning: 'The reading, or every reading of the batch, was refused and is in quarantine.',
    remedy:
      'Correct what details names; GET /streams/{streamId}/quarantine keeps the original, and POST /streams/{streamId}/quarantine/redrive judges it again.',
    retryable: false,
  },
  request_timeout: {
    status: 408,
    meaning: 'The request took too long to arrive.',
    remedy:
      'Send it again over a new connection; a large import goes to POST /streams/{streamId}/import.',
    retryable: true,
  },
  session_expired: {
    status: 401,
    meaning: 'The session of the console has ended: by a sign-out, by its time, or with its key.',
    remedy: 'Sign in again, at /console or with POST /console/session.',
    retryable: false,
  },
  shared_with_oneself: {
    status: 422,
    meaning: 'The permission is for the owner, who may do everything already.',
    remedy: 'Name another user in username.',
    retryable: false,
  },
  signature_mismatch: {
    status: 422,
    meaning: 'That key did not make the signature over the text that names the content.',
    remedy:
      'Sign the text in docs/signatures.md, with the CID of the content, and send the bytes of the signature unchanged.',
    retryable: false,
  },
  store_unavailable: {
    status: 503,
    meaning: 'The store of the readings, or that of the files, does not answer.',
    remedy: 'Ask again after retryAfter seconds; GET /health/ready says when the store answers.',
    retryable: true,
  },
  stream_paused: {
    status: 409,
    meaning: 'The stream is paused and takes no readings; none of the request was received.',
    remedy: 'Resume the stream with POST /streams/{streamId}/resume, then send the readings again.',
    retryable: false,
  },
  token_expired: {
    status: 401,
    meaning: 'The access token has expired.',
    remedy: 'Get a new token with POST /auth/token.',
    retryable: false,
  },
  too_many_points: {
    status: 422,
    meaning: 'The query is about more streams or buckets than one query may have.',
    remedy:
      'Ask for less time between start and end, fewer streams, or longer buckets in aggregation.',
    retryable: false,
  },
  too_many_readings: {
    status: 422,
    meaning: 'The range has more readings than one request may process.',
    remedy: 'Ask for less time between start and end.',
    retryable: false,
  },
  unsupported_definition: {
    status: 422,
    meaning: 'The definition is valid, but this version cannot do what it asks for.',
    remedy:
      'Leave out or change what details names; docs/connectors.md lists what a source may be.',
    retryable: false,
  },
  unsupported_media_type: {
    status: 415,
    meaning:
      'The operation does not take this content type, charset or content coding, or the request names no type.',
    remedy:
      'Send Content-Type: application/json, or another type that GET /openapi.json lists for the operation.',
    retryable: false,
  },
  unsupported_query: {
    status: 422,
    meaning: 'The query is valid, but its result cannot be computed.',
    remedy: 'Change what details names; docs/queries.md lists what can be asked for.',
    retryable: false,
  },
  upload_refused: {
    status: 403,
    meaning: 'The address for the upload was changed, has expired, or was used already.',
    remedy:
      'Read the resource again with GET, such as GET /attachments/{attachmentId}, for a new address as long as it waits for a file.',
    retryable: false,
  },
  url_too_long: {
    status: 414,
    meaning: 'The URL is longer than 8,192 characters.',
    remedy: 'Name fewer fields in one request, or send the query as the body of POST /query.',
    retryable: false,
  },
  websocket_required: {
    status: 426,
    meaning: 'This path needs a WebSocket, and the request does not ask for one.',
    remedy:
      'Connect with a client of MQTT over WebSockets, such as MQTT.js with ws:// or wss://; docs/connect-a-device.md has an example.',
    retryable: false,
  },
  wrong_alert_state: {
    status: 409,
    meaning: 'The alert is in a state that does not allow that.',
    remedy: 'Read GET /alerts/{alertId} again: another user or a reading has changed its state.',
    retryable: false,
  },
} as const

/** A code that the service answers. */
export type ErrorCode = keyof typeof errorCatalogue
