// SPDX-License-Identifier: Apache-2.0
'use strict';

const { Client, Reservation } = require('./lib/client.js');
const { DeniedError, RefusedError, UnavailableError } = require('./lib/errors.js');

module.exports = { Client, Reservation, DeniedError, RefusedError, UnavailableError };
