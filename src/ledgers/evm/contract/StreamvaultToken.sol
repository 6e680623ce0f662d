// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// Who makes a token, and says while it does so what the token is to be.
interface TokenMaker {
    function issuing()
        external
        view
        returns (string memory code, uint8 precision, uint256 supply, address holder);
}

/// An asset, all of which is there from the start: nobody makes more of it, and nobody changes it.
/// It asks its maker what it is, so that its address depends on that one and on the asset stream alone.
contract StreamvaultToken is ERC20 {
    address public immutable maker = msg.sender;

    uint8 private immutable _precision;
    string private _code;

    constructor() ERC20("", "") {
        (string memory code, uint8 precision, uint256 supply, address holder) =
            TokenMaker(msg.sender).issuing();
        _code = code;
        _precision = precision;
        _mint(holder, supply);
    }

    function name() public view override returns (string memory) {
        return _code;
    }

    function symbol() public view override returns (string memory) {
        return _code;
    }

    function decimals() public view override returns (uint8) {
        return _precision;
    }
}
